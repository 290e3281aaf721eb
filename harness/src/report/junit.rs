use super::{
    Provenance,
    cell::{subject, value},
};
use crate::{
    runner::{Failure, Run, StepRecord, StepResult, Subject},
    scenario::Scenario,
};
use quick_xml::{
    Writer,
    events::{BytesDecl, BytesText, Event},
};
use std::{collections::BTreeMap, io};

/// The report as JUnit XML: a suite for each participant, in it a test case for each scenario.
pub fn junit(run: &Run, provenance: &Provenance) -> String {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    write(&mut writer, run, provenance).expect("a Vec takes all bytes");
    let text = String::from_utf8(writer.into_inner()).expect("it was written from text");
    text + "\n"
}

type Xml = Writer<Vec<u8>>;

fn write(out: &mut Xml, run: &Run, provenance: &Provenance) -> io::Result<()> {
    out.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    out.create_element("testsuites")
        .with_attribute(("name", "concord conform"))
        .write_inner_content(|out| {
            for participant in &run.participants {
                write_suite(out, run, provenance, &participant.name)?;
            }
            Ok(())
        })?;
    Ok(())
}

/// How one participant fared in one scenario.
struct Case<'a> {
    scenario: &'a str,
    /// The first of them, where there are several.
    failure: Option<Failure<'a>>,
    /// Why nothing, or not everything, was played.
    skipped: Option<&'a str>,
}

impl Case<'_> {
    /// Could it not be checked?
    fn is_error(&self) -> bool {
        let subject = self.failure.as_ref().map(|it| it.difference.subject);
        matches!(subject, Some(Subject::Fault | Subject::Lost))
    }
}

fn cases<'a>(run: &'a Run, participant: &'a str) -> Vec<Case<'a>> {
    let mut failures: BTreeMap<&str, Failure<'_>> = BTreeMap::new();
    for failure in run.failures().filter(|it| it.participant == participant) {
        failures.entry(failure.scenario).or_insert(failure);
    }
    let played = run.by_scenario().map(|(scenario, records)| {
        let own = records.iter().filter(|it| it.participant == participant);
        let failure = failures.remove(&*scenario.name);
        Case {
            scenario: &scenario.name,
            skipped: own.into_iter().find_map(|it| why_skipped(scenario, it)),
            failure,
        }
    });
    let left_out = run.left_out.iter().map(|it| Case {
        scenario: &it.scenario,
        skipped: Some(&it.reason),
        failure: None,
    });
    played.chain(left_out).collect()
}

fn why_skipped<'a>(scenario: &'a Scenario, record: &StepRecord) -> Option<&'a str> {
    match record.result {
        StepResult::Absent => scenario.only.as_ref().map(|only| &*only.reason),
        StepResult::NotDeclared => Some("it needs a profile that is not declared"),
        _ => None,
    }
}

fn write_suite(
    out: &mut Xml,
    run: &Run,
    provenance: &Provenance,
    participant: &str,
) -> io::Result<()> {
    let cases = cases(run, participant);
    let count = |is: fn(&Case<'_>) -> bool| cases.iter().filter(|it| is(it)).count().to_string();
    out.create_element("testsuite")
        .with_attribute(("name", participant))
        .with_attribute(("tests", &*cases.len().to_string()))
        .with_attribute((
            "failures",
            &*count(|it| it.failure.is_some() && !it.is_error()),
        ))
        .with_attribute(("errors", &*count(|it| it.is_error())))
        .with_attribute((
            "skipped",
            &*count(|it| it.failure.is_none() && it.skipped.is_some()),
        ))
        .write_inner_content(|out| {
            write_properties(out, provenance)?;
            for case in &cases {
                write_case(out, participant, case)?;
            }
            Ok(())
        })?;
    Ok(())
}

fn write_properties(out: &mut Xml, provenance: &Provenance) -> io::Result<()> {
    let versions = provenance.versions.iter();
    let artifacts = provenance.artifacts.iter();
    let facts = provenance.facts.iter();
    let pairs: Vec<_> = versions
        .map(|it| (it.tool.clone(), &it.version))
        .chain(facts.map(|it| (format!("{} {}", it.participant, it.name), &it.value)))
        .chain(artifacts.map(|it| (format!("{}, {}", it.name, it.kind), &it.hash)))
        .collect();
    out.create_element("properties")
        .write_inner_content(|out| {
            for (name, value) in pairs {
                out.create_element("property")
                    .with_attribute(("name", printable(&name).as_str()))
                    .with_attribute(("value", printable(value).as_str()))
                    .write_empty()?;
            }
            Ok(())
        })?;
    Ok(())
}

fn write_case(out: &mut Xml, participant: &str, case: &Case<'_>) -> io::Result<()> {
    let element = out
        .create_element("testcase")
        .with_attribute(("classname", participant))
        .with_attribute(("name", printable(case.scenario).as_str()));
    let Some(failure) = &case.failure else {
        let written = match case.skipped {
            Some(reason) => element.write_inner_content(|out| {
                out.create_element("skipped")
                    .with_attribute(("message", printable(reason).as_str()))
                    .write_empty()?;
                Ok(())
            }),
            None => element.write_empty(),
        };
        return written.map(|_| ());
    };
    let words = words(failure);
    let name = if case.is_error() { "error" } else { "failure" };
    element.write_inner_content(|out| {
        out.create_element(name)
            .with_attribute(("type", subject(failure.difference.subject)))
            .with_attribute(("message", words.lines().next().unwrap_or_default()))
            .write_text_content(BytesText::new(&words))?;
        Ok(())
    })?;
    Ok(())
}

/// The step or the view that differs, on its first line; below it what was expected and what came.
fn words(failure: &Failure<'_>) -> String {
    let difference = failure.difference;
    let path = difference.path.as_deref().unwrap_or_default();
    let mut words = format!(
        "step {} ({}): {} {path}\nexpected {}\nactual {}",
        failure.step,
        failure.operation,
        subject(difference.subject),
        value(&difference.expected),
        value(&difference.actual),
    );
    if let Some(arguments) = &difference.arguments {
        words = format!("{words}\nasked {arguments}");
    }
    if let Some(native) = &difference.native_error {
        words = format!("{words}\nnatively {native}");
    }
    printable(&words)
}

/// XML 1.0 has no place for other control characters, not even escaped.
pub(crate) fn printable(text: &str) -> String {
    let is_allowed =
        |c: char| matches!(c, '\t' | '\n') || (c >= ' ' && !matches!(c, '\u{fffe}' | '\u{ffff}'));
    text.chars()
        .map(|c| if is_allowed(c) { c } else { '\u{fffd}' })
        .collect()
}

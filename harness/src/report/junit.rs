use super::{
    Provenance,
    cell::{subject, value},
};
use crate::{
    runner::{Run, StepRecord, StepResult},
    scenario::Scenario,
};
use quick_xml::{
    Writer,
    events::{BytesDecl, BytesText, Event},
};
use std::io;

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
    scenario: &'a Scenario,
    records: Vec<&'a StepRecord>,
}

impl Case<'_> {
    fn bad(&self) -> Option<&StepRecord> {
        let mut records = self.records.iter().copied();
        records.find(|record| record.result.difference().is_some())
    }

    fn is_absent(&self) -> bool {
        let mut records = self.records.iter();
        records.any(|record| record.result == StepResult::Absent)
    }

    fn is_error(&self) -> bool {
        self.bad()
            .is_some_and(|record| matches!(record.result, StepResult::Error(_)))
    }
}

fn cases<'a>(run: &'a Run, participant: &'a str) -> Vec<Case<'a>> {
    run.by_scenario()
        .map(|(scenario, records)| Case {
            scenario,
            records: records
                .iter()
                .filter(|record| record.participant == participant)
                .collect(),
        })
        .collect()
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
            &*count(|it| it.bad().is_some() && !it.is_error()),
        ))
        .with_attribute(("errors", &*count(|it| it.is_error())))
        .with_attribute(("skipped", &*count(|it| it.is_absent())))
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
    let pairs: Vec<_> = versions
        .map(|it| (&it.tool, &it.version))
        .chain(artifacts.map(|it| (&it.name, &it.hash)))
        .collect();
    out.create_element("properties")
        .write_inner_content(|out| {
            for (name, value) in pairs {
                out.create_element("property")
                    .with_attribute(("name", name.as_str()))
                    .with_attribute(("value", value.as_str()))
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
        .with_attribute(("name", printable(&case.scenario.name).as_str()));
    let Some(bad) = case.bad() else {
        let reason = case.scenario.only.as_ref().filter(|_| case.is_absent());
        let written = match reason {
            Some(only) => element.write_inner_content(|out| {
                out.create_element("skipped")
                    .with_attribute(("message", printable(&only.reason).as_str()))
                    .write_empty()?;
                Ok(())
            }),
            None => element.write_empty(),
        };
        return written.map(|_| ());
    };
    let words = words(bad);
    let name = if case.is_error() { "error" } else { "failure" };
    element.write_inner_content(|out| {
        let kind = bad.result.difference().map(|it| subject(it.subject));
        out.create_element(name)
            .with_attribute(("type", kind.unwrap_or_default()))
            .with_attribute(("message", words.lines().next().unwrap_or_default()))
            .write_text_content(BytesText::new(&words))?;
        Ok(())
    })?;
    Ok(())
}

/// The step that differs, on its first line; below it what was expected and what came.
fn words(record: &StepRecord) -> String {
    let Some(difference) = record.result.difference() else {
        return String::new();
    };
    let path = difference.path.as_deref().unwrap_or_default();
    let mut words = format!(
        "step {} ({}): {} {path}\nexpected {}\nactual {}",
        record.step,
        record.operation,
        subject(difference.subject),
        value(&difference.expected),
        value(&difference.actual),
    );
    if let Some(native) = &difference.native_error {
        words = format!("{words}\nnatively {native}");
    }
    printable(&words)
}

/// XML 1.0 has no place for other control characters, not even escaped.
fn printable(text: &str) -> String {
    let is_allowed =
        |c: char| matches!(c, '\t' | '\n') || (c >= ' ' && !matches!(c, '\u{fffe}' | '\u{ffff}'));
    text.chars()
        .map(|c| if is_allowed(c) { c } else { '\u{fffd}' })
        .collect()
}

use super::{
    check::{Finding, Row, Run, Verdict},
    report::short,
};
use crate::report::printable;
use quick_xml::{
    Writer,
    events::{BytesDecl, BytesText, Event},
};
use std::{collections::BTreeMap, io};

type Xml = Writer<Vec<u8>>;

/// The report as JUnit XML: a suite for each function, in it a test case for each vector. A vector
/// without an answer is an error, one that is not declared is skipped.
pub fn junit(run: &Run) -> String {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    write(&mut writer, run).expect("a Vec takes all bytes");
    let text = String::from_utf8(writer.into_inner()).expect("it was written from text");
    text + "\n"
}

fn write(out: &mut Xml, run: &Run) -> io::Result<()> {
    let findings: BTreeMap<_, _> = run.findings.iter().map(|it| (it.id.as_str(), it)).collect();
    out.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    out.create_element("testsuites")
        .with_attribute(("name", "concord vectors"))
        .write_inner_content(|out| {
            for row in &run.rows {
                write_suite(out, row, &findings)?;
            }
            Ok(())
        })?;
    Ok(())
}

fn write_suite(out: &mut Xml, row: &Row, findings: &BTreeMap<&str, &Finding>) -> io::Result<()> {
    let tally = &row.tally;
    let counts = [
        ("tests", row.verdicts.len()),
        ("failures", tally.wrong + tally.refused_wrongly),
        ("errors", tally.unanswered),
        ("skipped", tally.not_declared),
    ];
    let mut suite = out
        .create_element("testsuite")
        .with_attribute(("name", row.name));
    for (name, count) in counts {
        suite = suite.with_attribute((name, count.to_string().as_str()));
    }
    suite.write_inner_content(|out| {
        for (id, verdict) in &row.verdicts {
            write_case(
                out,
                row.name,
                id,
                *verdict,
                findings.get(id.as_str()).copied(),
            )?;
        }
        Ok(())
    })?;
    Ok(())
}

fn write_case(
    out: &mut Xml,
    function: &str,
    id: &str,
    verdict: Verdict,
    finding: Option<&Finding>,
) -> io::Result<()> {
    let case = out
        .create_element("testcase")
        .with_attribute(("classname", function))
        .with_attribute(("name", id));
    let written = match (verdict, finding) {
        (Verdict::NotDeclared, _) => case.write_inner_content(|out| {
            let skipped = out.create_element("skipped");
            let reason = ("message", "the program does not declare it");
            skipped.with_attribute(reason).write_empty()?;
            Ok(())
        }),
        (_, Some(finding)) => case.write_inner_content(|out| write_finding(out, finding)),
        (_, None) => case.write_empty(),
    };
    written.map(|_| ())
}

fn write_finding(out: &mut Xml, finding: &Finding) -> io::Result<()> {
    let name = match finding.verdict {
        Verdict::Unanswered => "error",
        _ => "failure",
    };
    let words = printable(&format!(
        "{}\nexpected {}\nanswered {}",
        finding.comment,
        short(&finding.expected),
        short(&finding.answered),
    ));
    out.create_element(name)
        .with_attribute(("type", finding.verdict.words()))
        .with_attribute(("message", words.lines().next().unwrap_or_default()))
        .write_text_content(BytesText::new(&words))?;
    Ok(())
}

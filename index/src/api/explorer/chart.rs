//! Averages over time, drawn on the server: everyone's, and that of the listed reviewers. What is drawn is not said in
//! numbers: sums are the API's (R47).
use super::page::{civil, short, strange};
use maud::{Markup, html};
use std::collections::BTreeMap;

/// A feedback in a chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Unix seconds.
    pub at: i64,
    /// For drawing only.
    pub value: f64,
    /// Its tags.
    pub tags: [String; 2],
}

/// Feedback of everyone, or of the listed reviewers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Series {
    /// The newest first.
    pub points: Vec<Point>,
    /// Whether this is all of it.
    pub is_whole: bool,
}

/// Charts for tags.
const TAGS: usize = 6;
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 160.0;

/// A chart of all feedback, and one for each of the most frequent tags: first those of the listed reviewers.
pub fn charts(everyone: &Series, listed: Option<&Series>) -> Markup {
    if everyone.points.is_empty() {
        let words = if everyone.is_whole {
            "There is no feedback to draw."
        } else {
            "The feedback could not be read in time to draw it."
        };
        return html! { p { (words) } };
    }
    html! {
        (drawn("everyone's feedback", everyone))
        @if let Some(listed) = listed { (drawn("the listed reviewers' feedback", listed)) }
        p.legend {
            span.raw { "everyone" }
            @if listed.is_some() { span.listed { "the listed reviewers" } }
        }
        (chart("All tags", everyone, listed))
        @for tag in tags(everyone, listed) {
            (chart(&tag, &everyone.tagged(&tag), listed.map(|it| it.tagged(&tag)).as_ref()))
        }
    }
}

fn drawn(whose: &str, of: &Series) -> Markup {
    html! {
        @if !of.is_whole { p.note { "Of " (whose) ", the newest " (of.points.len()) " are drawn, and their averages." } }
    }
}

impl Series {
    fn tagged(&self, tag: &String) -> Self {
        let tagged = self.points.iter().filter(|it| it.tags.contains(tag));
        Self {
            points: tagged.cloned().collect(),
            is_whole: self.is_whole,
        }
    }

    /// The oldest first.
    fn in_order(&self) -> Vec<&Point> {
        let mut points: Vec<&Point> = self.points.iter().rev().collect();
        points.sort_by_key(|it| it.at);
        points
    }
}

fn tags(everyone: &Series, listed: Option<&Series>) -> Vec<String> {
    let mut tags = listed.map(frequent).unwrap_or_default();
    for tag in frequent(everyone) {
        if !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    tags.truncate(TAGS);
    tags
}

fn frequent(of: &Series) -> Vec<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for point in &of.points {
        let [first, second] = &point.tags;
        let second = (second != first).then_some(second);
        for tag in [Some(first), second].into_iter().flatten() {
            if !tag.is_empty() {
                *counts.entry(tag).or_default() += 1;
            }
        }
    }
    let mut tags: Vec<(&str, usize)> = counts.into_iter().collect();
    tags.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    tags.truncate(TAGS);
    tags.into_iter().map(|(tag, _)| tag.to_owned()).collect()
}

/// The running average after each feedback.
fn averages(points: &[&Point]) -> Vec<(i64, f64)> {
    let (mut sum, mut count) = (0.0, 0.0);
    let each = points.iter().map(|point| {
        sum += point.value;
        count += 1.0;
        (point.at, sum / count)
    });
    each.collect()
}

fn chart(name: &str, everyone: &Series, listed: Option<&Series>) -> Markup {
    let raw = everyone.in_order();
    let theirs = listed.map(Series::in_order).unwrap_or_default();
    let all = || raw.iter().chain(&theirs);
    let (low, high) = (
        all().map(|it| it.value).fold(f64::INFINITY, f64::min),
        all().map(|it| it.value).fold(f64::NEG_INFINITY, f64::max),
    );
    let (first, last) = (
        all().map(|it| it.at).min().unwrap_or_default(),
        all().map(|it| it.at).max().unwrap_or_default(),
    );
    let x = |at: i64| scaled(at as f64, first as f64, last as f64) * WIDTH;
    let y = |value: f64| HEIGHT - scaled(value, low, high) * HEIGHT;
    let line = |points: &[&Point]| {
        let points = averages(points).into_iter();
        let points = points.map(|(at, value)| format!("{:.1},{:.1}", x(at), y(value)));
        points.collect::<Vec<_>>().join(" ")
    };
    let (from, to) = (civil(first).0, civil(last).0);
    let described = format!("{} feedbacks from {from} to {to}.", raw.len());
    html! {
        figure.chart {
            figcaption {
                span.tag { (strange(&short(name))) } " "
                (described)
                @if let Some(listed) = listed { " " (said_of(listed)) }
            }
            svg viewBox={ "-4 -4 " (WIDTH + 8.0) " " (HEIGHT + 8.0) } role="img" aria-label={ (short(name)) ": " (described) } preserveAspectRatio="none" {
                rect.frame x="0" y="0" width=(WIDTH) height=(HEIGHT) {}
                @for (points, is_listed) in [(&raw, false), (&theirs, true)] {
                    @for point in points {
                        circle.dot.listed[is_listed] cx=(format!("{:.1}", x(point.at))) cy=(format!("{:.1}", y(point.value))) r="2" {}
                    }
                }
                polyline.raw points=(line(&raw)) {}
                @if listed.is_some() { polyline.listed points=(line(&theirs)) {} }
            }
            p.axis { span { (from) } span { (low) " to " (high) } span { (to) } }
        }
    }
}

fn said_of(listed: &Series) -> String {
    match (listed.points.len(), listed.is_whole) {
        (0, true) => "The listed reviewers gave none.".to_owned(),
        (0, false) => "None of what is drawn of the listed reviewers.".to_owned(),
        (count, _) => format!("{count} by the listed reviewers."),
    }
}

/// Where a number is between two others, from 0 to 1; in the middle if there is nothing between them.
fn scaled(number: f64, low: f64, high: f64) -> f64 {
    if high > low {
        (number - low) / (high - low)
    } else {
        0.5
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(at: i64, value: f64, tag: &str) -> Point {
        Point {
            at,
            value,
            tags: [tag.to_owned(), String::new()],
        }
    }

    fn series(points: &[Point], is_whole: bool) -> Series {
        let points = points.to_vec();
        Series { points, is_whole }
    }

    #[test]
    fn a_chart_has_everyones_average_and_that_of_the_listed() {
        let points = [
            point(300, 50.0, "a"),
            point(200, 0.0, "b"),
            point(100, 100.0, "a"),
        ];
        let everyone = series(&points, true);
        let listed = series(&points[..2], true);
        let drawn = charts(&everyone, Some(&listed)).into_string();
        // From 100 to 300 seconds and from 0 to 100: the averages are 100, 50, 50 and 0, 25.
        assert!(
            drawn.contains("class=\"raw\" points=\"0.0,0.0 320.0,80.0 640.0,80.0\""),
            "{drawn}"
        );
        assert!(
            drawn.contains("class=\"listed\" points=\"320.0,160.0 640.0,120.0\""),
            "{drawn}"
        );
        assert_eq!(drawn.matches("<figure").count(), 3);
        assert!(drawn.contains("2 by the listed reviewers."), "{drawn}");
        let unfiltered = charts(&everyone, None).into_string();
        assert!(!unfiltered.contains("class=\"listed\" points"));
    }

    /// Anyone can give so much feedback that none of the listed reviewers' is among the newest.
    #[test]
    fn the_listed_are_drawn_and_their_tags_first_however_much_others_gave() {
        let loud: Vec<Point> = (0..100)
            .map(|it| point(1_000 + it, 0.0, &format!("loud{}", it % 6)))
            .collect();
        let everyone = series(&loud, false);
        let listed = series(&[point(100, 90.0, "quiet")], true);
        let drawn = charts(&everyone, Some(&listed)).into_string();
        assert!(drawn.contains("the newest 100 are drawn"), "{drawn}");
        assert!(!drawn.contains("listed reviewers' feedback"), "{drawn}");
        let quiet = drawn.find("quiet").unwrap();
        assert!(quiet < drawn.find("loud0").unwrap(), "{drawn}");
        assert!(drawn.contains("cx=\"0.0\" cy=\"0.0\""), "{drawn}");
        assert_eq!(drawn.matches("<figure").count(), 7);
        let nothing = charts(&everyone, Some(&series(&[], true))).into_string();
        assert!(nothing.contains("gave none."), "{nothing}");
        let unknown = charts(&everyone, Some(&series(&[], false))).into_string();
        assert!(!unknown.contains("gave none."), "{unknown}");
    }

    #[test]
    fn one_feedback_is_drawn_in_the_middle() {
        let one = series(&[point(100, 7.0, "<b>")], false);
        let drawn = charts(&one, None).into_string();
        assert!(drawn.contains("points=\"320.0,80.0\""), "{drawn}");
        assert!(
            !drawn.contains("<b>") && drawn.contains("&lt;b&gt;"),
            "{drawn}"
        );
    }
}

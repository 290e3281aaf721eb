//! Averages over time, drawn on the server: everyone's, and that of the listed reviewers.
use super::page::{civil, short, strange};
use maud::{Markup, html};
use std::collections::BTreeMap;

/// A feedback in a chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Unix seconds.
    pub at: i64,
    /// For drawing only (R47).
    pub value: f64,
    /// Its tags.
    pub tags: [String; 2],
    /// Whether it is by one of the listed reviewers.
    pub is_listed: bool,
}

/// Charts for tags.
const TAGS: usize = 6;
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 160.0;

/// A chart of all feedback, and one for each of the most frequent tags.
pub fn charts(points: &[Point], is_filtered: bool, is_whole: bool) -> Markup {
    if points.is_empty() {
        return html! { p { "There is no open feedback to draw." } };
    }
    let mut oldest_first: Vec<&Point> = points.iter().collect();
    oldest_first.sort_by_key(|it| it.at);
    html! {
        @if !is_whole { p.note { "Drawn from the newest " (points.len()) " feedbacks." } }
        p.legend {
            span.raw { "everyone" }
            @if is_filtered { span.listed { "the listed reviewers" } }
        }
        (chart("All tags", &oldest_first, is_filtered))
        @for tag in frequent(points) {
            @let tagged: Vec<&Point> = oldest_first.iter().copied().filter(|it| it.tags.contains(&tag)).collect();
            (chart(&tag, &tagged, is_filtered))
        }
    }
}

fn frequent(points: &[Point]) -> Vec<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for point in points {
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
fn averages<'a>(points: impl IntoIterator<Item = &'a &'a Point>) -> Vec<(i64, f64)> {
    let (mut sum, mut count) = (0.0, 0.0);
    let each = points.into_iter().map(|point| {
        sum += point.value;
        count += 1.0;
        (point.at, sum / count)
    });
    each.collect()
}

fn chart(name: &str, points: &[&Point], is_filtered: bool) -> Markup {
    let raw = averages(points);
    let listed = averages(points.iter().filter(|it| it.is_listed));
    let values = || points.iter().map(|it| it.value);
    let (low, high) = (
        values().fold(f64::INFINITY, f64::min),
        values().fold(f64::NEG_INFINITY, f64::max),
    );
    let (first, last) = (
        points.first().map_or(0, |it| it.at),
        points.last().map_or(0, |it| it.at),
    );
    let x = |at: i64| scaled(at as f64, first as f64, last as f64) * WIDTH;
    let y = |value: f64| HEIGHT - scaled(value, low, high) * HEIGHT;
    let line = |averages: &[(i64, f64)]| {
        let points = averages
            .iter()
            .map(|(at, value)| format!("{:.1},{:.1}", x(*at), y(*value)));
        points.collect::<Vec<_>>().join(" ")
    };
    let end = |averages: &[(i64, f64)]| averages.last().map_or(0.0, |(_, value)| *value);
    let described = format!(
        "{} feedbacks from {} to {}. The average ends at {:.2}.",
        points.len(),
        civil(first).0,
        civil(last).0,
        end(&raw)
    );
    html! {
        figure.chart {
            figcaption {
                span.tag { (strange(&short(name))) } " "
                (described)
                @if is_filtered {
                    @if listed.is_empty() { " The listed reviewers gave none." }
                    @else { " That of the " (listed.len()) " by the listed reviewers at " (format!("{:.2}", end(&listed))) "." }
                }
            }
            svg viewBox={ "-4 -4 " (WIDTH + 8.0) " " (HEIGHT + 8.0) } role="img" aria-label={ (short(name)) ": " (described) } preserveAspectRatio="none" {
                rect.frame x="0" y="0" width=(WIDTH) height=(HEIGHT) {}
                @for point in points {
                    circle.dot.listed[point.is_listed] cx=(format!("{:.1}", x(point.at))) cy=(format!("{:.1}", y(point.value))) r="2" {}
                }
                polyline.raw points=(line(&raw)) {}
                @if is_filtered { polyline.listed points=(line(&listed)) {} }
            }
            p.axis { span { (civil(first).0) } span { (low) " to " (high) } span { (civil(last).0) } }
        }
    }
}

/// Where a number is between two others, from 0 to 1; in the middle if there is nothing between them.
fn scaled(number: f64, low: f64, high: f64) -> f64 {
    match high > low {
        true => (number - low) / (high - low),
        false => 0.5,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(at: i64, value: f64, tag: &str, is_listed: bool) -> Point {
        Point {
            at,
            value,
            tags: [tag.to_owned(), String::new()],
            is_listed,
        }
    }

    #[test]
    fn a_chart_has_everyones_average_and_that_of_the_listed() {
        let points = [
            point(200, 0.0, "b", true),
            point(100, 100.0, "a", false),
            point(300, 50.0, "a", true),
        ];
        let drawn = charts(&points, true, true).into_string();
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
        assert!(drawn.contains("The average ends at 50.00"), "{drawn}");
        let unfiltered = charts(&points, false, true).into_string();
        assert!(!unfiltered.contains("class=\"listed\" points"));
    }

    #[test]
    fn one_feedback_is_drawn_in_the_middle() {
        let drawn = charts(&[point(100, 7.0, "<b>", false)], false, false).into_string();
        assert!(drawn.contains("points=\"320.0,80.0\""), "{drawn}");
        assert!(
            !drawn.contains("<b>") && drawn.contains("&lt;b&gt;"),
            "{drawn}"
        );
    }
}

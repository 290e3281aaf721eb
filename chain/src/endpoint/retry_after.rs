//! RFC 9110, 10.2.3: for how long an endpoint wants no requests, in seconds or as a date.
use alloy::transports::http::reqwest::header::{DATE, HeaderMap, HeaderName, RETRY_AFTER};
use std::time::{Duration, SystemTime};

/// No endpoint makes us wait longer.
const MOST: Duration = Duration::from_secs(60);

/// Returns the wait that the headers ask for, a minute at most.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let value = text(headers, &RETRY_AFTER)?;
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds).min(MOST));
    }
    let until = httpdate::parse_http_date(value).ok()?;
    // By the endpoint's own clock, if it shows it.
    let now = text(headers, &DATE).and_then(|date| httpdate::parse_http_date(date).ok());
    let now = now.unwrap_or_else(SystemTime::now);
    Some(until.duration_since(now).unwrap_or_default().min(MOST))
}

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(retry_after_value: &str, date: Option<&str>) -> Option<Duration> {
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, retry_after_value.parse().unwrap());
        if let Some(date) = date {
            headers.insert(DATE, date.parse().unwrap());
        }
        retry_after(&headers)
    }

    #[test]
    fn seconds_and_dates_are_read_and_capped() {
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        assert_eq!(wait("7", None), seconds(7));
        assert_eq!(wait(" 0 ", None), seconds(0));
        assert_eq!(wait("3600", None), seconds(60));
        // RFC 9110's example of a date, and its other two forms
        let date = Some("Sun, 06 Nov 1994 08:49:25 GMT");
        assert_eq!(wait("Sun, 06 Nov 1994 08:49:37 GMT", date), seconds(12));
        assert_eq!(wait("Sunday, 06-Nov-94 08:49:37 GMT", date), seconds(12));
        assert_eq!(wait("Sun Nov  6 08:49:37 1994", date), seconds(12));
        assert_eq!(wait("Sun, 06 Nov 1994 08:49:20 GMT", date), seconds(0));
        assert_eq!(wait("Mon, 07 Nov 1994 08:49:25 GMT", date), seconds(60));
        // long past by our own clock
        assert_eq!(wait("Sun, 06 Nov 1994 08:49:37 GMT", None), seconds(0));
        assert_eq!(wait("soon", date), None);
        assert_eq!(wait("-1", date), None);
    }
}

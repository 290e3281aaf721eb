//! Times in files: RFC 3339, in UTC.

use serde::Serialize;

/// An RFC 3339 time in UTC, as written: `2026-01-26T12:00:00Z`, with or without fractions of a second.
/// The offset is `Z` or `+00:00`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Timestamp(
    #[cfg_attr(
        test,
        schemars(regex(
            pattern = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?(Z|\+00:00)$"
        ))
    )]
    String,
);

/// Days from 1970-01-01 to the year 0000-03-01 of the proleptic Gregorian calendar, negated.
const EPOCH_FROM_MARCH_OF_YEAR_ZERO: i64 = 719_468;

impl Timestamp {
    /// Takes an RFC 3339 time in UTC; `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        unix_seconds(text).map(|_| Self(text.to_owned()))
    }

    /// The time of so many seconds after 1970-01-01T00:00:00Z; `None` from the year 10000 on.
    #[must_use]
    pub fn from_unix_seconds(seconds: u64) -> Option<Self> {
        let days = i64::try_from(seconds / 86_400).ok()?;
        let [hour, minute, second] = [seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60];
        let (year, month, day) = civil_from_days(days)?;
        let text = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z");
        (year <= 9_999).then_some(Self(text))
    }

    /// The text, as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Seconds after 1970-01-01T00:00:00Z, fractions cut off; negative before.
    #[must_use]
    pub fn unix_seconds(&self) -> i64 {
        unix_seconds(&self.0).unwrap_or_default()
    }
}

fn unix_seconds(text: &str) -> Option<i64> {
    let clock = text.strip_suffix('Z').or(text.strip_suffix("+00:00"))?;
    let (whole, fraction) = clock.split_at_checked(19)?;
    if !fraction.is_empty() {
        let digits = fraction.strip_prefix('.')?;
        let is_fraction = (1..=9).contains(&digits.len()) && digits.bytes().all(is_digit);
        is_fraction.then_some(())?;
    }
    let separators = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    let bytes = whole.as_bytes();
    let fits = separators.iter().all(|(at, byte)| bytes[*at] == *byte);
    fits.then_some(())?;
    let [year, month, day] = [
        field(bytes, 0, 4)?,
        field(bytes, 5, 2)?,
        field(bytes, 8, 2)?,
    ];
    let [hour, minute, second] = [
        field(bytes, 11, 2)?,
        field(bytes, 14, 2)?,
        field(bytes, 17, 2)?,
    ];
    let is_time = hour < 24 && minute < 60 && second < 60;
    let is_date = (1..=12).contains(&month) && day >= 1 && day <= days_of(year, month);
    (is_time && is_date).then_some(())?;
    Some(days_from_civil(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second)
}

fn is_digit(byte: u8) -> bool {
    byte.is_ascii_digit()
}

fn field(bytes: &[u8], at: usize, length: usize) -> Option<i64> {
    let digits = bytes.get(at..at + length)?;
    digits.iter().try_fold(0, |value, digit| {
        is_digit(*digit).then(|| value * 10 + i64::from(digit - b'0'))
    })
}

fn days_of(year: i64, month: i64) -> i64 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        _ => 31,
    }
}

/// Days since 1970-01-01. Years begin in March, so that the leap day is the last of one.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year
        - EPOCH_FROM_MARCH_OF_YEAR_ZERO
}

/// The inverse of [`days_from_civil`].
fn civil_from_days(days: i64) -> Option<(i64, i64, i64)> {
    let days = days.checked_add(EPOCH_FROM_MARCH_OF_YEAR_ZERO)?;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    Some((era * 400 + year + i64::from(month <= 2), month, day))
}

#[cfg(test)]
mod tests {
    use super::Timestamp;

    /// By GNU date: `date -u -d 2024-02-29T23:59:59Z +%s` and the like.
    #[test]
    fn reads_times_in_utc() {
        for (text, seconds) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2024-02-29T23:59:59Z", 1_709_251_199),
            ("2026-01-26T12:00:00Z", 1_769_428_800),
            ("2025-12-20T12:00:00.123456+00:00", 1_766_232_000),
            ("1969-12-31T23:59:59Z", -1),
            ("9999-12-31T23:59:59Z", 253_402_300_799),
        ] {
            let time = Timestamp::parse(text).expect(text);
            assert_eq!((time.unix_seconds(), time.as_str()), (seconds, text));
        }
        let made = Timestamp::from_unix_seconds(1_709_251_199).expect("a time");
        assert_eq!(made.as_str(), "2024-02-29T23:59:59Z");
        assert_eq!(Timestamp::from_unix_seconds(253_402_300_800), None);
    }

    #[test]
    fn refuses_other_zones_and_days_that_do_not_exist() {
        for text in [
            "",
            "2026-01-26",
            "2026-01-26T12:00:00",
            "2026-01-26 12:00:00Z",
            "2026-01-26T12:00:00+01:00",
            "2026-01-26T12:00:00.Z",
            "2026-01-26T12:00:00.1234567890Z",
            "2025-02-29T00:00:00Z",
            "1900-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-00-01T00:00:00Z",
            "2026-01-00T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:00:60Z",
            "２026-01-01T00:00:00Z",
            "+026-01-01T00:00:00Z",
        ] {
            assert_eq!(Timestamp::parse(text), None, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn every_second_survives(seconds in 0_u64..253_402_300_800) {
            let time = Timestamp::from_unix_seconds(seconds).expect("a time");
            let read = Timestamp::parse(time.as_str()).expect("a time");
            proptest::prop_assert_eq!(read.unix_seconds(), i64::try_from(seconds).expect("small"));
        }
    }
}

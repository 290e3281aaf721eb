use super::*;
use crate::ErrorClass;
use num_bigint::BigInt;
use proptest::prelude::*;
use std::vec::Vec;

fn over(values: &[(i128, u8)]) -> Summary {
    let mut accumulator = Accumulator::default();
    for (value, decimals) in values {
        accumulator.add(*value, *decimals).unwrap();
    }
    accumulator.finish()
}

const fn summary(count: u64, value: i128, decimals: u8) -> Summary {
    Summary {
        count,
        value,
        decimals,
    }
}

#[test]
fn r16_equals_the_canonical_contracts_answers() {
    // Run against the canonical contract 2.0.0 (facts on EVM, 1.5).
    assert_eq!(over(&[(-32, 1), (-31, 1)]), summary(2, -31, 1));
    assert_eq!(over(&[(9977, 2), (100, 0)]), summary(2, 99, 0));
    assert_eq!(over(&[]), summary(0, 0, 0));
}

#[test]
fn r16_ties_go_to_the_fewest_decimals() {
    assert_eq!(over(&[(10, 1), (100, 2), (1, 0)]), summary(3, 1, 0));
    assert_eq!(
        over(&[(100, 2), (100, 2), (10, 1), (10, 1), (1, 0)]),
        summary(5, 10, 1)
    );
}

#[test]
fn r16_never_wraps_where_the_canonical_contract_does() {
    // One 1e38 with 0 decimals, two 0.01 with 2: the mode is 2 decimals, at which the average
    // 3.33e37 needs 3.33e39, beyond int128's 1.70e38. It fits at 0 decimals.
    let third = VALUE_MAX / 3;
    assert_eq!(
        over(&[(VALUE_MAX, 0), (1, 2), (1, 2)]),
        summary(3, third, 0)
    );
    // 1e37 at mode 2 is 1e39; at 1 decimal it is 1e38, which fits.
    let value = VALUE_MAX / 10;
    assert_eq!(
        over(&[
            (value, 0),
            (value, 0),
            (value * 10, 1),
            (value * 10, 1),
            (0, 2),
            (0, 2),
            (0, 2)
        ])
        .decimals,
        1
    );
    assert_eq!(
        over(&[(-VALUE_MAX, 0), (-1, 18), (-1, 18)]),
        summary(3, -third, 0)
    );
}

#[test]
fn r16_an_average_at_the_edge_of_int128_keeps_its_decimals() {
    // Of ten values, six with 1 decimal. There the average is exactly int128's maximum; one tenth more
    // needs 0 decimals, truncated.
    let tenfold = |value: i128| I256::product(value, 10u64.pow(18));
    let of_ten = |sum| Accumulator::from_parts(sum, 10, histogram(&[(0, 4), (1, 6)])).unwrap();
    let whole = i128::MAX / 10;
    assert_eq!(
        of_ten(tenfold(i128::MAX)).finish(),
        summary(10, i128::MAX, 1)
    );
    let one_more = tenfold(i128::MAX).checked_add(tenfold(1)).unwrap();
    assert_eq!(of_ten(one_more).finish(), summary(10, whole, 0));
    assert_eq!(
        of_ten(tenfold(i128::MIN)).finish(),
        summary(10, i128::MIN, 1)
    );
}

fn histogram(entries: &[(u8, u64)]) -> [u64; DECIMALS_COUNT] {
    let mut histogram = [0; DECIMALS_COUNT];
    for (decimals, count) in entries {
        histogram[usize::from(*decimals)] = *count;
    }
    histogram
}

#[test]
fn r16_refuses_values_that_no_registry_holds() {
    let class = |value, decimals| {
        let mut accumulator = Accumulator::default();
        let error = accumulator.add(value, decimals).unwrap_err();
        assert_eq!(accumulator, Accumulator::default());
        error.class()
    };
    assert_eq!(class(1, 19), ErrorClass::DecimalsOutOfRange);
    assert_eq!(class(VALUE_MAX + 1, 0), ErrorClass::ValueOutOfRange);
    assert_eq!(class(-VALUE_MAX - 1, 0), ErrorClass::ValueOutOfRange);
}

#[test]
fn r16_refuses_a_count_beyond_64_bits() {
    let mut full =
        Accumulator::from_parts(I256::ZERO, u64::MAX, histogram(&[(3, u64::MAX)])).unwrap();
    let before = full;
    assert_eq!(
        full.add(1, 0).unwrap_err().class(),
        ErrorClass::CounterExhausted
    );
    assert_eq!(
        full.merge(&before).unwrap_err().class(),
        ErrorClass::CounterExhausted
    );
    assert_eq!(full, before);
    // The largest sum that can be: 2^64 - 1 times 1e38.
    let mut largest = Accumulator::default();
    largest.add(VALUE_MAX, 0).unwrap();
    for _ in 0..63 {
        let half = largest;
        largest.merge(&half).unwrap();
    }
    assert_eq!(largest.finish(), summary(1 << 63, VALUE_MAX, 0));
}

#[test]
fn r16_refuses_parts_that_contradict_themselves() {
    let one = I256::product(1, 1);
    let too_large = I256::product(VALUE_MAX, wad_factor(0))
        .checked_add(I256::product(1, wad_factor(0)))
        .unwrap();
    let cases = [
        (one, 0, histogram(&[])),
        (I256::ZERO, 1, histogram(&[])),
        (I256::ZERO, 1, histogram(&[(0, 2)])),
        (I256::ZERO, 0, [u64::MAX; DECIMALS_COUNT]),
        (too_large, 1, histogram(&[(0, 1)])),
        (
            I256::product(VALUE_MAX, wad_factor(0)),
            1,
            histogram(&[(18, 1)]),
        ),
    ];
    for (sum, count, histogram) in cases {
        let error = Accumulator::from_parts(sum, count, histogram).unwrap_err();
        assert_eq!(error.class(), ErrorClass::BadRequest);
    }
}

/// Whether parts with this sum are refused.
fn class_of_sum(sum: &BigInt, count: u64, histogram: [u64; DECIMALS_COUNT]) -> Option<ErrorClass> {
    let parts = Accumulator::from_parts(i256(sum), count, histogram);
    parts.map_err(|error| error.class()).err()
}

#[test]
fn r16_bounds_the_sum_of_parts_by_count_and_decimals_exactly() {
    for decimals in 0..=DECIMALS_MAX {
        let unit = BigInt::from(10).pow((DECIMALS_MAX - decimals).into());
        for count in [1, 2, 3, u64::MAX - 1, u64::MAX] {
            let bound = BigInt::from(VALUE_MAX) * &unit * count;
            let class = |sum: &BigInt| class_of_sum(sum, count, histogram(&[(decimals, count)]));
            for near in [&bound - &unit, bound.clone()] {
                assert_eq!((class(&-&near), class(&near)), (None, None));
            }
            for far in [&bound + &unit, &bound + &unit * count, &unit << 195] {
                let refused = Some(ErrorClass::BadRequest);
                assert_eq!((class(&-&far), class(&far)), (refused, refused));
            }
        }
    }
    // Each value counts at its own decimals.
    let mixed = histogram(&[(0, 1), (2, 3), (18, 5)]);
    let bound = BigInt::from(VALUE_MAX) * (BigInt::from(10u64.pow(18)) + 3 * 10u64.pow(16) + 5);
    assert_eq!(class_of_sum(&bound, 9, mixed), None);
    let beyond = bound + 1;
    assert_eq!(
        class_of_sum(&beyond, 9, mixed),
        Some(ErrorClass::BadRequest)
    );
}

#[test]
fn r16_a_sum_of_parts_has_no_more_decimals_than_the_values() {
    for decimals in 0..DECIMALS_MAX {
        let unit = BigInt::from(10).pow((DECIMALS_MAX - decimals).into());
        for few in [
            histogram(&[(decimals, 2)]),
            histogram(&[(0, 1), (decimals, 1)]),
        ] {
            let few: [u64; DECIMALS_COUNT] = few;
            let count = few.iter().sum();
            assert_eq!(class_of_sum(&-&unit, count, few), None);
            let refused = Some(ErrorClass::BadRequest);
            assert_eq!(class_of_sum(&(&unit / 10), count, few), refused);
            assert_eq!(class_of_sum(&(-&unit - 1), count, few), refused);
        }
    }
}

fn i256(value: &BigInt) -> I256 {
    let bytes = value.to_signed_bytes_be();
    let sign = if *value < BigInt::ZERO { 0xff } else { 0 };
    let mut word = [sign; 32];
    word[32 - bytes.len()..].copy_from_slice(&bytes);
    I256::from_be_bytes(&word)
}

fn feedback(client: u8, value: i128, tag1: &'static str) -> Feedback<'static, u8> {
    Feedback {
        client,
        value,
        decimals: 0,
        tag1,
        tag2: "",
        is_revoked: false,
    }
}

#[test]
fn r16_queries_select_by_client_tag_and_revocation() {
    let revoked = Feedback {
        is_revoked: true,
        ..feedback(1, 1000, "a")
    };
    let all = [
        feedback(1, 10, "a"),
        feedback(2, 20, "b"),
        feedback(1, 60, "b"),
        revoked,
    ];
    let answer = |clients: &[u8], tag1| {
        summarize(
            &all,
            &Query {
                clients,
                tag1,
                tag2: "",
            },
        )
        .unwrap()
    };
    assert_eq!(answer(&[1], ""), summary(2, 35, 0));
    assert_eq!(answer(&[1], "a"), summary(1, 10, 0));
    assert_eq!(answer(&[2, 1], "b"), summary(2, 40, 0));
    assert_eq!(answer(&[3], ""), summary(0, 0, 0));
    assert_eq!(answer(&[1, 2], "A"), summary(0, 0, 0));
    // One listed twice counts twice.
    assert_eq!(answer(&[1, 1, 2], ""), summary(5, 32, 0));
}

#[test]
fn r16_refuses_a_query_without_clients() {
    let query = Query {
        clients: &[],
        tag1: "",
        tag2: "",
    };
    let error = summarize(&[feedback(1, 1, "")], &query).unwrap_err();
    assert_eq!(error.class(), ErrorClass::EmptyClients);
}

/// The rule's text in arbitrary precision.
fn naive(values: &[(i128, u8)]) -> Summary {
    if values.is_empty() {
        return summary(0, 0, 0);
    }
    let power = |exponent: u8| BigInt::from(10).pow(u32::from(exponent));
    let sum: BigInt = (values.iter())
        .map(|(value, decimals)| BigInt::from(*value) * power(18 - decimals))
        .sum();
    let frequency = |decimals: u8| values.iter().filter(|(_, d)| *d == decimals).count();
    let most = (0..=18).map(frequency).max().unwrap();
    let mode = (0..=18).find(|d| frequency(*d) == most).unwrap();
    let average = sum / BigInt::from(values.len());
    for decimals in (0..=mode).rev() {
        if let Ok(value) = i128::try_from(&average / power(18 - decimals)) {
            return summary(values.len() as u64, value, decimals);
        }
    }
    unreachable!("an average of at most 1e38 fits at 0 decimals")
}

fn values() -> impl Strategy<Value = Vec<(i128, u8)>> {
    let value = prop_oneof![
        -1000i128..=1000,
        -VALUE_MAX..=VALUE_MAX,
        Just(VALUE_MAX),
        Just(-VALUE_MAX),
    ];
    let decimals = prop_oneof![0u8..=2, 0u8..=18];
    proptest::collection::vec((value, decimals), 0..24)
}

proptest! {
    #[test]
    fn r16_agrees_with_arbitrary_precision(values in values()) {
        prop_assert_eq!(over(&values), naive(&values));
    }

    #[test]
    fn r16_merged_parts_equal_the_whole(values in values(), cut in any::<prop::sample::Index>()) {
        let at = cut.index(values.len() + 1);
        let part = |values: &[(i128, u8)]| {
            let mut accumulator = Accumulator::default();
            for (value, decimals) in values {
                accumulator.add(*value, *decimals).unwrap();
            }
            accumulator
        };
        let (mut left, right) = (part(&values[..at]), part(&values[at..]));
        left.merge(&right).unwrap();
        prop_assert_eq!(left, part(&values));
        let rebuilt = Accumulator::from_parts(left.sum(), left.count(), *left.histogram()).unwrap();
        prop_assert_eq!(rebuilt, left);
    }
}

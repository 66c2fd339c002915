//! Server advice as numbers: its bounds and its lifetime. How it is read: `structured.rs`, and
//! `tests/node/advice.test.mjs`.

use holdfast::core::{Advice, Millis, Standing, Window};
use proptest::option;
use proptest::prelude::*;

const NOW: Millis = Millis::new(5_000.0);
const NOTHING: Advice =
    Advice { chunk: None, sessions: None, ranges: None, ttl: None, abr_cap: None, duress: false };

/// What holds without advice.
const CHUNK: f64 = Window::CHUNK.default;
const SESSIONS: u32 = Window::SESSIONS.default as u32;
const RANGES: u32 = Window::RANGES.default as u32;

fn standing(advice: Advice) -> Standing {
    let mut standing = Standing::default();
    standing.adopt(advice, NOW);
    standing
}

fn after(seconds: f64) -> Millis {
    NOW + Millis::from_secs(seconds)
}

/// Chunk, sessions and ranges.
fn advised(chunk: f64, sessions: f64, ranges: f64) -> Advice {
    Advice { chunk: Some(chunk), sessions: Some(sessions), ranges: Some(ranges), ..NOTHING }
}

/// Chunk, sessions and ranges as they hold.
fn windows(standing: &Standing, now: Millis) -> (f64, u32, u32) {
    (standing.chunk(now), standing.sessions(now), standing.ranges(now))
}

fn end(ttl: Option<f64>) -> Option<Millis> {
    standing(Advice { ttl, ..NOTHING }).expires_at(NOW)
}

fn cap(bits_per_second: f64) -> Option<f64> {
    standing(Advice { abr_cap: Some(bits_per_second), ..NOTHING }).abr_cap(NOW)
}

#[test]
fn r89_bounds_hold_their_default_and_every_window_lets_something_through() {
    for window in [Window::CHUNK, Window::SESSIONS, Window::RANGES, Window::TTL] {
        assert!(window.min <= window.default && window.default <= window.max, "{window:?}");
    }
    for window in [Window::CHUNK, Window::SESSIONS, Window::RANGES] {
        assert!(window.min >= 1.0, "{window:?}");
    }
}

#[test]
fn r89_values_within_the_bounds_are_taken_as_they_are() {
    let standing = standing(advised(131_072.0, 4.0, 2.0));
    assert_eq!(windows(&standing, NOW), (131_072.0, 4, 2));
    assert_eq!((standing.abr_cap(NOW), standing.is_in_duress(NOW)), (None, false));
}

#[test]
fn r89_lower_values_are_raised_to_the_least() {
    for low in [0.0, -0.0, -1.0, -999_999_999_999_999.0, f64::MIN, f64::NEG_INFINITY] {
        let standing = standing(advised(low, low, low));
        assert_eq!((low, windows(&standing, NOW)), (low, (Window::CHUNK.min, 1, 1)));
    }
    let below = standing(advised(65_535.0, 0.9, 0.9));
    assert_eq!(windows(&below, NOW), (65_536.0, 1, 1));
}

#[test]
fn r89_r90_higher_values_raise_nothing() {
    for high in [1_048_577.0, 999_999_999_999_999.0, f64::MAX, f64::INFINITY] {
        let standing = standing(advised(high, high, high));
        assert_eq!((high, windows(&standing, NOW)), (high, (CHUNK, SESSIONS, RANGES)));
    }
    let above = standing(advised(Window::CHUNK.max, 129.0, 7.0));
    assert_eq!(windows(&above, NOW), (CHUNK, SESSIONS, RANGES));
}

#[test]
fn r89_what_is_left_open_holds_its_default_and_the_others_count() {
    for open in [None, Some(f64::NAN), Some(-f64::NAN)] {
        let all = Advice { chunk: open, sessions: open, ranges: open, ttl: open, ..NOTHING };
        let standing = standing(Advice { abr_cap: open, ..all });
        assert_eq!(windows(&standing, NOW), (CHUNK, SESSIONS, RANGES));
        assert_eq!(standing.abr_cap(NOW), None);
        assert_eq!(standing.expires_at(NOW), Some(after(300.0)));

        let but_ranges = Advice { ranges: Some(2.0), ..all };
        assert_eq!(windows(&self::standing(but_ranges), NOW), (CHUNK, SESSIONS, 2));
    }
}

#[test]
fn r89_duress_means_one_request_whatever_else_is_advised() {
    for sessions in [None, Some(f64::NAN), Some(8.0), Some(0.0), Some(1_000.0)] {
        let standing = standing(Advice { sessions, duress: true, ..NOTHING });
        assert!(standing.is_in_duress(NOW));
        assert_eq!(windows(&standing, NOW), (CHUNK, 1, RANGES));
    }
}

#[test]
fn r89_the_cap_has_no_bound_above_and_is_never_nothing() {
    for bits_per_second in [1_000.0, 1_000_500.0, 1e18, f64::MAX] {
        assert_eq!(cap(bits_per_second), Some(bits_per_second));
    }
    for low in [999.0, 0.0, -7_000.0, f64::NEG_INFINITY] {
        assert_eq!((low, cap(low)), (low, Some(1_000.0)));
    }
    assert_eq!((cap(f64::INFINITY), cap(f64::NAN)), (None, None));
}

#[test]
fn r89_advice_stands_for_its_ttl_and_then_the_defaults_do() {
    let none = Standing::default();
    assert_eq!(windows(&none, NOW), (CHUNK, SESSIONS, RANGES));
    assert_eq!((none.abr_cap(NOW), none.is_in_duress(NOW)), (None, false));
    assert_eq!((none.expires_at(Millis::ZERO), none.expires_at(NOW)), (None, None));

    let windows_of = advised(65_536.0, 8.0, 2.0);
    let rest = Advice { ttl: Some(10.0), abr_cap: Some(5e5), duress: true, ..windows_of };
    let standing = standing(rest);
    let end = after(10.0);
    assert_eq!(standing.expires_at(NOW), Some(end));
    let before = Millis::new(end.get() - 1.0);
    assert_eq!(windows(&standing, before), (65_536.0, 1, 2));
    assert_eq!((standing.abr_cap(before), standing.is_in_duress(before)), (Some(5e5), true));
    assert_eq!(standing.expires_at(before), Some(end));
    for over in [end, after(1e9)] {
        assert_eq!(windows(&standing, over), windows(&none, over));
        assert_eq!((standing.abr_cap(over), standing.is_in_duress(over)), (None, false));
        assert_eq!(standing.expires_at(over), None);
    }
}

#[test]
fn r89_advice_stands_for_300_s_if_it_does_not_say_and_for_a_day_at_most() {
    for ttl in [None, Some(f64::NAN)] {
        assert_eq!(end(ttl), Some(after(300.0)));
    }
    for (ttl, seconds) in [(1.0, 1.0), (0.5, 0.5), (301.0, 301.0), (86_400.0, 86_400.0)] {
        assert_eq!(end(Some(ttl)), Some(after(seconds)));
    }
    for long in [86_401.0, f64::MAX, f64::INFINITY] {
        assert_eq!((long, end(Some(long))), (long, Some(after(86_400.0))));
    }
}

#[test]
fn r89_with_no_time_left_advice_does_not_stand_and_the_former_is_gone() {
    for ttl in [0.0, -0.0, -5.0, f64::NEG_INFINITY] {
        let mut standing = standing(advised(65_536.0, 4.0, 2.0));
        standing.adopt(Advice { ttl: Some(ttl), duress: true, ..advised(70_000.0, 3.0, 1.0) }, NOW);
        assert_eq!((ttl, windows(&standing, NOW)), (ttl, (CHUNK, SESSIONS, RANGES)));
        assert_eq!((standing.is_in_duress(NOW), standing.expires_at(NOW)), (false, None));
    }
}

#[test]
fn r89_new_advice_replaces_the_old_wholly() {
    let mut standing = standing(Advice {
        ttl: Some(1_000.0),
        abr_cap: Some(5e5),
        duress: true,
        ..advised(65_536.0, 4.0, 1.0)
    });
    standing.adopt(Advice { ranges: Some(2.0), ttl: Some(5.0), ..NOTHING }, NOW);
    assert_eq!(windows(&standing, NOW), (CHUNK, SESSIONS, 2));
    assert_eq!((standing.abr_cap(NOW), standing.is_in_duress(NOW)), (None, false));
    assert_eq!(standing.expires_at(NOW), Some(after(5.0)));
}

/// Any number at all, and those near the bounds more often.
fn number() -> impl Strategy<Value = Option<f64>> {
    option::weighted(
        0.9,
        prop_oneof![any::<f64>(), -10.0..200.0, 0.0..1e7, proptest::num::f64::ANY],
    )
}

prop_compose! {
    fn advice()(
        chunk in number(),
        sessions in number(),
        ranges in number(),
        ttl in number(),
        abr_cap in number(),
        duress in any::<bool>(),
    ) -> Advice {
        Advice { chunk, sessions, ranges, ttl, abr_cap, duress }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 10_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn r89_r90_whatever_is_advised_holds_within_bounds_raises_nothing_and_ends(
        first in advice(),
        second in advice(),
        later in 0.0..1e9,
    ) {
        let none = Standing::default();
        let mut standing = standing(first);
        standing.adopt(second, NOW);
        for at in [NOW, NOW + Millis::new(later), after(86_400.0)] {
            let (chunk, sessions, ranges) = windows(&standing, at);
            prop_assert!((Window::CHUNK.min..=none.chunk(at)).contains(&chunk), "{chunk}");
            prop_assert!((1..=none.sessions(at)).contains(&sessions), "{sessions}");
            prop_assert!((1..=none.ranges(at)).contains(&ranges), "{ranges}");
            let cap = standing.abr_cap(at);
            prop_assert!(cap.is_none_or(|cap| cap.is_finite() && cap >= 1_000.0), "{cap:?}");
            if standing.expires_at(at).is_none() {
                prop_assert_eq!(windows(&standing, at), windows(&none, at));
                prop_assert_eq!((cap, standing.is_in_duress(at)), (None, false));
            }
        }
        let latest = standing.expires_at(NOW).unwrap_or(NOW);
        prop_assert!(latest <= after(86_400.0), "{latest:?}");
        prop_assert_eq!(standing.expires_at(latest), None);
    }
}

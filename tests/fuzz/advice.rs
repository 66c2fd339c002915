//! Advice out of any bytes: whatever is read is within bounds, and what stands of it never exceeds
//! what holds without.

use holdfast::core::{Advice, Millis, Standing, Window};

const NOW: Millis = Millis::new(1_000.0);

/// The bytes are the one field, and the other too.
pub(crate) fn run(bytes: &[u8]) {
    let field = String::from_utf8_lossy(bytes);
    let own = Advice::parse(&field);
    let cmsd = Advice::parse_cmsd_dynamic(&field);
    if field.len() > 2048 {
        assert_eq!((own, cmsd), (None, None));
    }
    for advice in [own, cmsd].into_iter().flatten() {
        check(advice);
    }
    if let (Some(one), Some(other)) = (own, cmsd) {
        check(one.merge(other));
        assert_eq!(one.merge(other), other.merge(one));
    }
}

fn check(advice: Advice) {
    let Advice { chunk, sessions, ranges, ttl, abr_cap, duress } = advice;
    for (window, value) in [
        (Window::CHUNK, chunk),
        (Window::SESSIONS, sessions.map(f64::from)),
        (Window::RANGES, ranges.map(f64::from)),
        (Window::TTL, ttl.map(Millis::as_secs)),
    ] {
        let is_within = value.is_none_or(|value| window.min <= value && value <= window.max);
        assert!(is_within, "{advice:?}");
    }
    assert!(abr_cap.is_none_or(|cap| cap >= 1_000.0), "{advice:?}");

    let none = Standing::default();
    let mut standing = none;
    standing.adopt(advice, NOW);
    let end = NOW + ttl.unwrap_or(Millis::from_secs(300.0));
    assert_eq!(standing.expires_at(NOW), (end > NOW).then_some(end));
    for (at, stands) in [(NOW, end > NOW), (end, false)] {
        assert!(standing.chunk(at) <= none.chunk(at), "{advice:?}");
        assert!(standing.sessions(at) <= none.sessions(at), "{advice:?}");
        assert!(standing.ranges(at) <= none.ranges(at), "{advice:?}");
        assert!(standing.chunk(at) >= Window::CHUNK.min, "{advice:?}");
        assert!(standing.sessions(at) >= 1 && standing.ranges(at) >= 1, "{advice:?}");
        assert_eq!(standing.abr_cap(at), abr_cap.filter(|_| stands));
        assert_eq!(standing.is_in_duress(at), duress && stands);
        if !stands {
            assert_eq!(seen(&standing, at), seen(&none, at));
        }
    }
}

fn seen(standing: &Standing, at: Millis) -> (f64, u32, u32) {
    (standing.chunk(at), standing.sessions(at), standing.ranges(at))
}

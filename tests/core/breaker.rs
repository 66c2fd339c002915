//! The circuit breaker of a host, rule by rule (R38 to R42). `breaker_model.rs` has the random
//! walks.
#![cfg(not(target_family = "wasm"))]

use holdfast::core::{
    Breaker, BreakerConfig, Evidence, Health, HealthState, Millis, Permit, Report,
};

/// What a probe may take at most in these tests.
const LEASE: Millis = Millis::new(12_000.0);

/// In the middle of every jitter: spans come out as they are configured.
const MIDDLE: f64 = 0.5;

/// A breaker with a clock.
#[derive(Clone)]
struct Host {
    breaker: Breaker,
    config: BreakerConfig,
    now: f64,
}

impl Host {
    fn new() -> Self {
        Self { breaker: Breaker::new(), config: BreakerConfig::default(), now: 0.0 }
    }

    /// A host that opened just now, at a time of zero.
    fn down() -> Self {
        let mut host = Self::new();
        for url in [1, 2, 1, 2, 1] {
            host.attempt(server(url));
        }
        assert_eq!(host.health().health, Health::Open);
        host
    }

    fn now(&self) -> Millis {
        Millis::new(self.now)
    }

    fn wait(&mut self, span: f64) -> &mut Self {
        self.now += span;
        self
    }

    fn health(&self) -> HealthState {
        self.breaker.health(&self.config, self.now())
    }

    /// What is left of the cool-down or of the lease.
    fn left(&self) -> Option<f64> {
        self.breaker.check(self.now()).err().map(|at| (at - self.now()).get())
    }

    fn acquire(&mut self) -> Permit {
        assert_eq!(self.breaker.check(self.now()), Ok(()), "at {}", self.now);
        self.breaker.acquire(&self.config, LEASE, self.now())
    }

    fn report(&mut self, permit: Permit, report: Report) -> bool {
        self.breaker.report(&self.config, permit, report, self.now())
    }

    fn online(&mut self, online: bool, unit: f64) {
        self.breaker.handle_online(online, unit, self.now());
    }

    fn pull(&mut self, unit: f64) -> bool {
        self.breaker.pull_forward(unit, self.now())
    }

    fn trip(&mut self) -> bool {
        self.breaker.trip(&self.config, None, MIDDLE, self.now())
    }

    fn adopt(&mut self, until: f64, trips: u32) {
        self.breaker.adopt(&self.config, Millis::new(until), trips, self.now());
    }

    /// An attempt that ends at once. Says whether the health changed.
    fn attempt(&mut self, report: Report) -> bool {
        let permit = self.acquire();
        self.report(permit, report)
    }

    /// Attempts, told in words, that are sent one after the other, each `gap` milliseconds
    /// after the one before. Says what the host's health is after the last.
    fn attempts(&mut self, words: &str, gap: f64) -> HealthState {
        for (position, word) in words.split_whitespace().enumerate() {
            let before = self.health().health;
            let changed = self.attempt(told(word));
            let after = self.health().health;
            assert_eq!(changed, before != after, "{word} of {words}");
            if position + 1 < words.split_whitespace().count() {
                assert_eq!(after, Health::Closed, "opened too early: at {position} of {words}");
                self.wait(gap);
            }
        }
        self.health()
    }

    /// Sends the one probe that the cool-down is to be followed by.
    fn probe(&mut self) -> Permit {
        let left = self.left().expect("it is open");
        let permit = self.wait(left).acquire();
        assert!(permit.is_probe());
        permit
    }
}

fn says(evidence: Evidence, transport: bool, url: u32) -> Report {
    Report { evidence, transport, url, pause: None, hint: None, unit: MIDDLE }
}

fn server(url: u32) -> Report {
    says(Evidence::Failure, false, url)
}

/// A word and the number of a URL: `s1` is a 5xx of URL 1, `t1` a failure of its network.
fn told(word: &str) -> Report {
    let url = word[1..].parse().expect("a number");
    match word.as_bytes()[0] {
        b'a' => says(Evidence::Alive, false, url),
        b'c' => says(Evidence::Nothing, false, url),
        b'o' => says(Evidence::Success, false, url),
        b'q' => says(Evidence::Soft, false, url),
        b's' => server(url),
        b't' => says(Evidence::Failure, true, url),
        _ => panic!("no such word: {word}"),
    }
}

/// What each series of attempts, 100 ms apart, ends in.
fn expect(health: Health, series: &[&str]) {
    for words in series {
        assert_eq!(Host::new().attempts(words, 100.0).health, health, "{words}");
    }
}

#[test]
fn r38_opens_after_five_failures_in_a_row() {
    expect(Health::Open, &["s1 s2 s3 s4 s5", "t1 t1 t1 t1 t2", "t1 s1 t1 s1 t2", "t1 s2 t1 s2 t1"]);
    expect(Health::Closed, &["s1 s2 s3 s4", "s1 s2 s3 s4 o5 s6 s7 s8 s9"]);
    let opened = Host::down().health();
    assert_eq!((opened.failures, opened.trips), (5, 1));
    assert_eq!(opened.opened_at, Some(Millis::ZERO));
    assert_eq!(opened.retry_at, Some(Millis::new(4_000.0)));
}

#[test]
fn r38_opens_when_half_of_ten_results_are_failures() {
    expect(Health::Open, &["s1 s2 o1 s1 s2 o1 o1 o1 o1 s1", "s1 s1 s1 s2 o1 o1 o1 q1 o1 o1"]);
    expect(Health::Closed, &["s1 s2 o1 s1 s2 o1 o1 o1 s1", "s1 s2 o1 s1 s2 o1 o1 o1 o1 o1 s1"]);
}

#[test]
fn r38_a_gap_of_the_window_forgets_every_bucket() {
    for (gap, health) in [(18_000.0, Health::Open), (30_000.0, Health::Closed)] {
        let mut host = Host::new();
        host.attempts("s1 s2 o1 s1 s2 o1 o1 o1 o1", 1_000.0);
        host.wait(gap).attempt(server(1));
        assert_eq!(host.health().health, health, "after {gap}");
    }
}

#[test]
fn r38_the_window_forgets_bucket_by_bucket() {
    let mut host = Host::new();
    host.attempts("s1 s2 o1", 0.0);
    host.wait(15_000.0).attempts("s1 s2 o1 o1 o1 o1", 0.0);
    // The first three are gone; of the last seven, three are failures.
    host.wait(15_000.0).attempt(server(1));
    assert_eq!(host.health().health, Health::Closed);
    host.attempts("o1 s2", 0.0);
    assert_eq!(host.health().health, Health::Closed);
    host.attempts("s1", 0.0);
    assert_eq!(host.health().health, Health::Open);
}

#[test]
fn r38_each_cool_down_is_half_as_long_again_up_to_the_cap() {
    let mut host = Host::down();
    for (trips, expected) in [4.0, 6.0, 9.0, 13.5, 20.25, 30.0, 30.0, 30.0].into_iter().enumerate()
    {
        assert_eq!(host.left(), Some(expected * 1_000.0));
        assert_eq!(host.health().trips as usize, trips + 1);
        let probe = host.probe();
        assert!(host.report(probe, server(1)));
    }
    assert_eq!(host.health().opened_at, Some(Millis::ZERO), "the outage is one");
}

#[test]
fn r38_a_cool_down_is_spread_by_a_quarter_to_either_side() {
    for (unit, expected) in [(0.0, 3_000.0), (0.25, 3_500.0), (0.5, 4_000.0), (1.0, 5_000.0)] {
        let mut host = Host::new();
        host.attempts("s1 s2 s1 s2", 0.0);
        host.attempt(Report { unit, ..server(1) });
        assert_eq!(host.left(), Some(expected));
    }
    let mut dice = fastrand::Rng::with_seed(38);
    let mut sum = 0.0;
    for _ in 0..10_000 {
        let mut host = Host::new();
        host.attempts("s1 s2 s1 s2", 0.0);
        host.attempt(Report { unit: dice.f64(), ..server(1) });
        let left = host.left().unwrap();
        assert!((3_000.0..5_000.0).contains(&left), "{left}");
        sum += left;
    }
    assert!((sum / 10_000.0 - 4_000.0).abs() < 20.0);
}

#[test]
fn r38_half_open_admits_exactly_one_probe() {
    let mut host = Host::down();
    host.wait(3_999.0);
    assert_eq!(host.left(), Some(1.0));
    host.wait(1.0);
    assert_eq!((host.health().health, host.health().retry_at), (Health::HalfOpen, None));
    let probe = host.acquire();
    assert!(probe.is_probe());
    assert_eq!((host.health().health, host.left()), (Health::HalfOpen, Some(LEASE.get())));
    let forced = host.breaker.acquire(&host.config, LEASE, host.now());
    assert!(!forced.is_probe());
    assert!(!host.report(forced, told("o1")), "sent in spite of a refusal: counts for nothing");
    assert!(host.report(probe, told("o1")));
    assert_eq!(host.health().health, Health::Closed);
}

#[test]
fn r38_a_probe_that_succeeds_closes_and_keeps_only_the_trips() {
    let mut host = Host::down();
    let probe = host.probe();
    assert!(host.report(probe, told("o1")));
    let closed = host.health();
    assert_eq!((closed.health, closed.failures, closed.trips), (Health::Closed, 0, 1));
    assert_eq!((closed.opened_at, closed.retry_at), (None, None));
    host.attempts("s1 s2 s1 s2", 0.0);
    assert_eq!(host.health().health, Health::Closed, "neither the row nor the window is left");
    host.attempt(server(1));
    assert_eq!(host.left(), Some(6_000.0));
}

#[test]
fn r38_a_probe_that_is_never_reported_has_failed_when_its_lease_ends() {
    let mut host = Host::down();
    let lost = host.probe();
    host.wait(11_999.0);
    assert_eq!(host.health().health, Health::HalfOpen);
    host.wait(1.0);
    assert_eq!((host.health().health, host.health().trips), (Health::Open, 2));
    assert_eq!(host.left(), Some(6_000.0));
    assert!(!host.report(lost, told("o1")), "too late to count");
    assert_eq!(host.health().health, Health::Open);
    assert_eq!(host.wait(3_600_000.0).left(), None, "and another may go, whoever asks when");
    let next = host.acquire();
    assert!(!host.report(lost, told("o1")), "nor does it count for its successor");
    assert!(host.report(next, told("o1")));
}

#[test]
fn r38_a_lease_is_judged_by_its_end_and_not_by_when_somebody_asks() {
    let mut once = Host::new();
    let early = once.acquire();
    once.attempts("s1 s2 s1 s2 s1", 0.0);
    once.probe();
    let mut often = once.clone();
    for _ in 0..17 {
        often.wait(1_000.0).report(early, told("o1"));
    }
    assert_eq!(once.wait(17_000.0).left(), Some(1_000.0));
    assert_eq!(often.health(), once.health());
}

#[test]
fn r38_a_cancelled_probe_makes_way_for_another_at_once() {
    let mut host = Host::down();
    let first = host.probe();
    assert!(!host.report(first, told("c1")), "it is as half-open as before");
    assert_eq!((host.health().health, host.left()), (Health::HalfOpen, None));
    let second = host.acquire();
    assert!(second.is_probe() && second != first);
    assert!(!host.report(first, told("s1")), "one probe is reported once");
    assert_eq!(host.health().health, Health::HalfOpen);
    assert!(host.report(second, told("o1")));
}

#[test]
fn r38_what_was_sent_before_a_trip_says_nothing_after_it() {
    let mut host = Host::new();
    let early = host.acquire();
    host.attempts("s1 s2 s1 s2 s1", 0.0);
    let opened = host.health();
    for word in ["o1", "s1", "a1", "q1"] {
        assert!(!host.report(early, told(word)));
        assert_eq!(host.health(), opened, "{word}");
    }
    let probe = host.probe();
    assert!(!host.report(early, told("o1")), "nor for the probe");
    assert!(host.report(probe, told("o1")));
    for _ in 0..9 {
        assert!(!host.report(early, told("s3")));
    }
    assert_eq!(host.health().failures, 0);
}

#[test]
fn r38_a_trip_is_forgotten_with_every_clean_half_minute() {
    let mut host = Host::down();
    for _ in 0..3 {
        let probe = host.probe();
        host.report(probe, server(1));
    }
    assert_eq!(host.health().trips, 4);
    host.wait(300_000.0);
    assert_eq!(host.health().trips, 4, "only while closed");
    host.attempt(told("o1"));
    assert_eq!(host.wait(29_999.0).health().trips, 4);
    assert_eq!(host.wait(1.0).health().trips, 3);
    assert_eq!(host.wait(20_000.0).health().trips, 3);
    host.attempt(server(1));
    assert_eq!(host.wait(29_999.0).health().trips, 3, "a failure begins the half minute anew");
    assert_eq!(host.wait(1.0).health().trips, 2);
    host.attempt(told("q1"));
    assert_eq!(host.wait(30_000.0).health().trips, 1, "a soft one does not");
    host.attempts("s1 s2 s1 s2", 0.0);
    assert_eq!(host.left(), Some(6_000.0));
}

#[test]
fn r39_what_says_nothing_against_the_host_opens_nothing() {
    expect(
        Health::Closed,
        &[
            "a1 a2 a1 a2 a1 a2 a1 a2 a1 a2 a1 a2",
            "c1 c2 c1 c2 c1 c2 c1 c2 c1 c2 c1 c2",
            "q1 q2 q1 q2 q1 q2 q1 q2 q1",
            // Neither do they fill the share up to ten results.
            "s1 s2 o1 s1 s2 o1 a1 a1 a1 a1 a1 c1 c1 c1",
        ],
    );
}

#[test]
fn r39_soft_failures_count_in_the_share_alone() {
    expect(Health::Open, &["q1 q2 q1 q2 q1 q2 q1 q2 q1 q2", "q1 q2 o1 q1 q2 o1 o1 o1 o1 q1"]);
    assert_eq!(Host::new().attempts("q1 q2 q1 s1 q2", 0.0).failures, 1);
}

#[test]
fn r39_any_response_ends_the_row_of_transport_failures() {
    expect(Health::Closed, &["t1 t2 t1 t2 a1 t1 t2 t1 t2", "t1 t2 t1 t2 q1 t1 t2 t1 t2"]);
    // A 404 is no sign that the 5xx are over, nor does a 5xx end a row: it is the next of it.
    expect(Health::Open, &["s1 s2 s1 s2 a1 s1", "t1 t2 t1 t2 s1", "s1 s2 t1 a1 s1 t2 t1"]);
    // Nor is silence a response.
    expect(Health::Open, &["t1 t2 t1 t2 c1 t1"]);
}

#[test]
fn r39_any_response_but_a_failure_closes_after_a_probe() {
    let ends = [
        ("o1", Health::Closed),
        ("a1", Health::Closed),
        ("s1", Health::Open),
        ("t1", Health::Open),
        ("q1", Health::Open),
        ("c1", Health::HalfOpen),
    ];
    for (word, health) in ends {
        let mut host = Host::down();
        let probe = host.probe();
        assert_eq!(host.report(probe, told(word)), health != Health::HalfOpen, "{word}");
        assert_eq!(host.health().health, health, "{word}");
    }
}

#[test]
fn r39_offline_nothing_counts_and_nothing_runs_out() {
    let mut host = Host::new();
    host.attempts("s1 s2 s1 s2", 0.0);
    host.online(false, MIDDLE);
    for _ in 0..20 {
        assert!(!host.attempt(told("t1")));
    }
    assert_eq!(host.health().failures, 4);
    assert!(!host.trip());
    host.online(true, MIDDLE);
    assert!(host.attempt(server(1)));
    host.wait(1_500.0);
    host.online(false, MIDDLE);
    host.wait(3_600_000.0).online(false, MIDDLE);
    assert_eq!(host.left(), Some(2_500.0), "counted from the network's return");
    assert_eq!(host.health().health, Health::Open);
}

#[test]
fn r39_a_lease_stands_still_offline_and_a_probe_that_fails_then_is_none() {
    let mut host = Host::down();
    let probe = host.probe();
    host.wait(2_000.0).online(false, MIDDLE);
    host.wait(3_600_000.0);
    assert_eq!((host.health().health, host.left()), (Health::HalfOpen, Some(10_000.0)));
    let mut back = host.clone();
    back.online(true, MIDDLE);
    assert_eq!(back.left(), Some(10_000.0));
    assert!(back.report(probe, told("o1")));
    assert!(!host.report(probe, told("t1")));
    assert_eq!((host.health().health, host.health().trips), (Health::HalfOpen, 1));
    assert_eq!(host.left(), None);
}

#[test]
fn r40_one_url_that_fails_is_not_a_dead_host() {
    let mut host = Host::new();
    for _ in 0..100 {
        assert!(!host.attempt(server(7)));
        host.wait(100.0);
    }
    assert!(!host.trip(), "nor its spent ladder");
    assert_eq!(host.health().health, Health::Closed);
    assert!(host.attempt(server(8)), "another that fails is");
}

#[test]
fn r40_the_urls_of_what_counts_are_those_that_matter() {
    expect(
        Health::Closed,
        &[
            "s2 o1 s1 s1 s1 s1 s1",
            "t2 a1 s1 s1 s1 s1 s1",
            "s1 s1 s1 o2 s1 s1 o2 o2 o2 o2 o2",
            "s1 s1 s1 a2 c2 s1 s1 s1",
        ],
    );
    let mut host = Host::new();
    host.attempt(server(2));
    host.wait(30_000.0).attempts("o1 s1 o1 s1 o1 s1 o1 s1 o1 s1", 2_000.0);
    assert_eq!(host.health().health, Health::Closed, "the other URL is out of the window");
    assert!(host.wait(3_000.0).attempt(told("q2")), "in another bucket of the window");
}

#[test]
fn r40_a_spent_ladder_opens_where_two_urls_have_failed() {
    let mut host = Host::new();
    host.attempts("s1 s2", 0.0);
    assert!(host.trip());
    assert_eq!((host.health().health, host.left()), (Health::Open, Some(4_000.0)));
    assert!(!host.trip(), "it is open");
    let mut host = Host::new();
    host.attempts("s1 s2", 0.0);
    host.wait(60_000.0).attempt(told("o1"));
    assert!(!host.trip(), "that was long ago");
}

#[test]
fn r41_a_pause_replaces_the_growing_cool_down_and_is_spread_like_it() {
    let mut host = Host::down();
    for (unit, expected) in [(0.5, 2_000.0), (0.0, 1_500.0), (1.0, 2_500.0)] {
        let probe = host.probe();
        let pause = Some(Millis::new(2_000.0));
        host.report(probe, Report { pause, unit, ..server(1) });
        assert_eq!(host.left(), Some(expected));
    }
    let probe = host.probe();
    host.report(probe, Report { pause: Some(Millis::ZERO), ..server(1) });
    assert_eq!(host.left(), Some(50.0), "probes never follow each other hot");
    let probe = host.probe();
    host.report(probe, server(1));
    assert_eq!(host.left(), Some(30_000.0), "it has grown all the while");
}

#[test]
fn r26_a_cool_down_is_never_shorter_than_the_server_asked_for() {
    let answer = |hint: f64, unit: f64| {
        let mut host = Host::down();
        let probe = host.probe();
        host.report(probe, Report { hint: Some(Millis::new(hint)), unit, ..told("q1") });
        host
    };
    assert_eq!(answer(60_000.0, 0.0).left(), Some(60_000.0));
    assert_eq!(answer(60_000.0, 0.5).left(), Some(66_000.0), "jitter goes on top");
    assert_eq!(answer(1_000.0, 0.5).left(), Some(6_000.0));
    let mut host = answer(60_000.0, 0.5);
    assert!(host.wait(5_000.0).pull(0.0));
    assert_eq!(host.left(), Some(55_000.0), "nor does the network's return cut it short");
}

#[test]
fn a_signal_of_the_network_cuts_a_cool_down_short_once_in_five_seconds() {
    let mut host = Host::down();
    for _ in 0..3 {
        let probe = host.probe();
        host.report(probe, server(1));
    }
    assert!(host.pull(0.5));
    assert_eq!(host.left(), Some(500.0));
    let probe = host.probe();
    host.report(probe, server(1));
    assert!(!host.clone().pull(0.5));
    assert!(!host.wait(4_499.0).pull(0.5));
    assert_eq!(host.left(), Some(20_250.0 - 4_499.0));
    assert!(host.wait(1.0).pull(0.25));
    assert_eq!(host.left(), Some(250.0));
    assert!(!host.wait(5_000.0).pull(0.5), "it is over already");
    assert!(!Host::new().pull(0.5), "nothing to cut");
}

#[test]
fn the_networks_return_cuts_a_cool_down_short() {
    let mut host = Host::down();
    host.online(false, MIDDLE);
    assert!(!host.wait(60_000.0).pull(0.5), "not before it is back");
    host.online(true, 0.75);
    assert_eq!(host.left(), Some(750.0));
}

#[test]
fn r42_a_reset_forgets_everything() {
    let mut host = Host::down();
    let probe = host.probe();
    host.report(probe, server(1));
    let probe = host.probe();
    host.breaker.reset();
    assert_eq!(host.health(), Host::new().health());
    for word in ["o1", "s1"] {
        assert!(!host.report(probe, told(word)), "it was sent before");
    }
    host.attempts("s1 s2 s1 s2 s1", 0.0);
    assert_eq!(host.left(), Some(4_000.0));
}

#[test]
fn r42_the_codes_of_health_are_stable() {
    assert_eq!([Health::Closed as u8, Health::Open as u8, Health::HalfOpen as u8], [0, 1, 2]);
}

#[test]
fn r42_what_another_tab_knows_opens_and_never_closes() {
    let mut host = Host::new();
    let sent = host.acquire();
    host.wait(1_000.0).adopt(900.0, 9);
    assert_eq!((host.health().health, host.health().trips), (Health::Closed, 0), "out of date");
    host.adopt(8_000.0, 2);
    assert_eq!((host.health().health, host.left()), (Health::Open, Some(7_000.0)));
    assert!(!host.report(sent, told("o1")));
    host.adopt(5_000.0, 1);
    assert_eq!((host.left(), host.health().trips), (Some(7_000.0), 2), "the larger of both");
    host.adopt(9_000.0, 3);
    assert_eq!((host.left(), host.health().trips), (Some(8_000.0), 3));
    let probe = host.probe();
    host.adopt(60_000.0, 0);
    assert!(host.report(probe, told("s1")), "a probe on its way still counts");
    assert_eq!(host.left(), Some(13_500.0));
}

#[test]
fn a_breaker_is_small() {
    assert!(size_of::<Breaker>() < 256, "{} bytes", size_of::<Breaker>());
}

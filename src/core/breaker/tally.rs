//! What a closed breaker has counted: failures in a row, and the results of the last while.
//!
//! The share of failures is exact over ten buckets of a tenth of the window each. A bucket
//! remembers of its failures the first URL and whether there was another, which is enough to
//! tell whether all failures are of one URL, and so does a row.

use super::{BreakerConfig, Evidence, Report};
use crate::core::clock::Millis;

#[derive(Clone, Debug)]
pub(super) struct Tally {
    /// Failures of the network since the last response.
    transport: Row,
    /// Other countable failures since the last success.
    server: Row,
    window: Window,
}

impl Tally {
    pub(super) const EMPTY: Self =
        Self { transport: Row::EMPTY, server: Row::EMPTY, window: Window::EMPTY };

    /// Counts a result. Says whether the breaker has to open now.
    pub(super) fn record(&mut self, config: &BreakerConfig, report: &Report, now: Millis) -> bool {
        self.window.roll(config.window, now);
        match report.evidence {
            Evidence::Alive => self.transport = Row::EMPTY,
            Evidence::Failure => {
                self.window.add_failure(report.url);
                // A 5xx is the next of the row, not the end of it.
                let row = if report.transport { &mut self.transport } else { &mut self.server };
                row.add(report.url);
            }
            Evidence::Nothing => {}
            Evidence::Soft => {
                self.window.add_failure(report.url);
                if !report.transport {
                    self.transport = Row::EMPTY;
                }
            }
            Evidence::Success => {
                self.window.add_success();
                (self.transport, self.server) = (Row::EMPTY, Row::EMPTY);
            }
        }
        match report.evidence {
            Evidence::Alive | Evidence::Nothing => false,
            Evidence::Failure | Evidence::Soft | Evidence::Success => {
                (self.in_a_row() >= config.consecutive && self.row_spans_urls())
                    || self.window.is_bad(config)
            }
        }
    }

    /// Whether the failures in a row, or those of the window, are of two URLs at least.
    pub(super) fn spans_urls(&mut self, config: &BreakerConfig, now: Millis) -> bool {
        self.window.roll(config.window, now);
        self.row_spans_urls() || self.window.spans_urls()
    }

    /// Countable failures in a row.
    pub(super) const fn in_a_row(&self) -> u32 {
        self.transport.failures.saturating_add(self.server.failures)
    }

    fn row_spans_urls(&self) -> bool {
        let rows = [&self.transport, &self.server].into_iter();
        are_of_two_urls(rows.filter(|row| row.failures > 0).map(|row| (row.url, row.several)))
    }
}

#[derive(Clone, Debug)]
struct Row {
    failures: u32,
    /// Of the first.
    url: u32,
    /// Whether another has another URL.
    several: bool,
}

impl Row {
    const EMPTY: Self = Self { failures: 0, url: 0, several: false };

    const fn add(&mut self, url: u32) {
        if self.failures == 0 {
            self.url = url;
        }
        self.several |= url != self.url;
        self.failures = self.failures.saturating_add(1);
    }
}

const BUCKETS: usize = 10;

#[derive(Clone, Debug)]
struct Window {
    /// The number of the newest bucket, counted from time zero.
    newest: u32,
    buckets: [Bucket; BUCKETS],
    /// Whether the failures of a bucket are of several URLs.
    several: [bool; BUCKETS],
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    failures: u16,
    successes: u16,
    /// Of the first failure.
    url: u32,
}

impl Window {
    const EMPTY: Self = Self {
        newest: 0,
        buckets: [Bucket { failures: 0, successes: 0, url: 0 }; BUCKETS],
        several: [false; BUCKETS],
    };

    /// Empties every bucket whose time has passed, however many: a gap of the window's length
    /// empties them all. A clock that stepped back goes on with the newest bucket.
    fn roll(&mut self, window: Millis, now: Millis) {
        let current = (now.get() / (window.get() / BUCKETS as f64)) as u32;
        let passed = current.saturating_sub(self.newest).min(BUCKETS as u32);
        for number in 0..passed {
            let index = (current - number) as usize % BUCKETS;
            self.buckets[index] = Self::EMPTY.buckets[0];
            self.several[index] = false;
        }
        self.newest = self.newest.max(current);
    }

    const fn add_failure(&mut self, url: u32) {
        let index = self.newest as usize % BUCKETS;
        let bucket = &mut self.buckets[index];
        if bucket.failures == 0 {
            bucket.url = url;
        }
        self.several[index] |= url != bucket.url;
        bucket.failures = bucket.failures.saturating_add(1);
    }

    const fn add_success(&mut self) {
        let bucket = &mut self.buckets[self.newest as usize % BUCKETS];
        bucket.successes = bucket.successes.saturating_add(1);
    }

    fn is_bad(&self, config: &BreakerConfig) -> bool {
        let (mut failures, mut results) = (0, 0);
        for bucket in &self.buckets {
            failures += u32::from(bucket.failures);
            results += u32::from(bucket.failures) + u32::from(bucket.successes);
        }
        results >= config.min_requests
            && f64::from(failures) >= config.ratio * f64::from(results)
            && self.spans_urls()
    }

    fn spans_urls(&self) -> bool {
        let failed =
            self.buckets.iter().zip(self.several).filter(|(bucket, _)| bucket.failures > 0);
        are_of_two_urls(failed.map(|(bucket, several)| (bucket.url, several)))
    }
}

/// Whether groups of failures, each with the URL of its first and whether it has another, are
/// of two URLs at least.
fn are_of_two_urls(groups: impl Iterator<Item = (u32, bool)>) -> bool {
    let mut first = None;
    for (url, several) in groups {
        if several || *first.get_or_insert(url) != url {
            return true;
        }
    }
    false
}

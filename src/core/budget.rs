//! The retry budget: tokens that successes earn and retries spend (R36, R37).
//!
//! A retry needs a token's worth from three buckets at once: its host's, its source's and the
//! engine's. First attempts cost nothing, and neither do probes: those are spaced in time and
//! not paid for. A source counts its probes all the same, so that an episode of failures costs a
//! bounded number of them.

/// The numbers of the budget, in tokens; a plain retry costs one
/// ([`Classification::cost`](super::Classification::cost)).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BudgetConfig {
    /// What a host's bucket holds.
    pub host: f64,
    /// What the bucket of a source holds.
    pub source: f64,
    /// What the engine's own bucket holds.
    pub session: f64,
    /// What the success of a first attempt earns each of the three.
    pub earn: f64,
    /// How many retries and probes a source makes without a success, at most.
    pub episode: u32,
}

impl Default for BudgetConfig {
    fn default() -> Self {
        Self { host: 10.0, source: 20.0, session: 20.0, earn: 0.1, episode: 200 }
    }
}

/// A bucket of tokens, full at first.
#[derive(Clone, Copy, Debug)]
pub struct Bucket {
    tokens: f64,
    capacity: f64,
}

impl Bucket {
    /// A full bucket.
    pub const fn new(capacity: f64) -> Self {
        Self { tokens: capacity, capacity }
    }

    /// Whether it holds so much.
    pub fn covers(&self, cost: f64) -> bool {
        // A sum of tenths falls short of the whole by a rounding error.
        self.tokens + 1e-9 >= cost
    }

    /// Takes so much out; what it does not cover is not to be asked for.
    pub fn pay(&mut self, cost: f64) {
        self.tokens = (self.tokens - cost).max(0.0);
    }

    /// Puts so much in, up to its capacity.
    pub fn earn(&mut self, tokens: f64) {
        self.tokens = (self.tokens + tokens).min(self.capacity);
    }

    /// What it holds.
    pub const fn tokens(&self) -> f64 {
        self.tokens
    }
}

/// The budget of one source: a stream from its manifest to the next one.
#[derive(Clone, Copy, Debug)]
pub(super) struct SourceBudget {
    bucket: Bucket,
    /// Retries and probes since the last success.
    drawn: u32,
    episode: u32,
}

impl SourceBudget {
    pub(super) const fn new(config: &BudgetConfig) -> Self {
        Self { bucket: Bucket::new(config.source), drawn: 0, episode: config.episode }
    }

    /// Whether the episode may go on at all.
    pub(super) const fn is_spent(&self) -> bool {
        self.drawn >= self.episode
    }

    pub(super) fn covers(&self, cost: f64) -> bool {
        self.bucket.covers(cost)
    }

    /// A retry that costs so much is sent; a probe costs nothing, but it counts.
    pub(super) fn draw(&mut self, cost: f64) {
        self.bucket.pay(cost);
        self.drawn += 1;
    }

    /// An attempt succeeded, and this is what it earns.
    pub(super) fn handle_success(&mut self, earned: f64) {
        self.bucket.earn(earned);
        self.drawn = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r36_ten_successes_earn_one_retry() {
        let mut bucket = Bucket::new(10.0);
        for _ in 0..10 {
            bucket.pay(1.0);
        }
        assert!(!bucket.covers(0.36));
        for _ in 0..9 {
            bucket.earn(0.1);
        }
        assert!(!bucket.covers(1.0));
        bucket.earn(0.1);
        assert!(bucket.covers(1.0));
    }

    #[test]
    fn r36_a_bucket_holds_no_more_than_its_capacity_and_no_less_than_nothing() {
        let mut bucket = Bucket::new(10.0);
        bucket.earn(5.0);
        assert_eq!(bucket.tokens(), 10.0);
        bucket.pay(11.0);
        assert_eq!(bucket.tokens(), 0.0);
    }

    #[test]
    fn r36_probes_end_an_episode_and_a_success_begins_another() {
        let config = BudgetConfig { episode: 3, ..BudgetConfig::default() };
        let mut source = SourceBudget::new(&config);
        for _ in 0..3 {
            assert!(!source.is_spent());
            source.draw(0.0);
        }
        assert!(source.is_spent());
        source.handle_success(0.1);
        assert!(!source.is_spent());
        assert!(source.covers(20.0));
        source.draw(1.0);
        assert!(!source.covers(20.0));
        assert!(source.covers(19.0));
    }
}

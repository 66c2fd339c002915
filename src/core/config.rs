//! What an engine is built with. Values arrive validated: the boundary parses, the core
//! believes.

use super::breaker::BreakerConfig;
use super::budget::BudgetConfig;
use super::clock::Millis;
use super::estimate::EstimatorConfig;
use super::recovery::Rule;
use super::site::{Site, SitePolicy};

/// The configuration of one engine.
#[derive(Clone, Debug)]
pub struct Config {
    /// A policy for each site, by its code.
    pub sites: [SitePolicy; Site::COUNT],
    /// The bandwidth estimator's numbers.
    pub estimator: EstimatorConfig,
    /// The longest hold of a request after its ladder is spent.
    pub hold_limit: Millis,
    /// How many decisions the log keeps.
    pub log_capacity: usize,
    /// Seed of the jitter.
    pub seed: u64,
    /// The numbers of the retry budget.
    pub budget: BudgetConfig,
    /// The numbers of the hosts' breakers.
    pub breaker: BreakerConfig,
    /// What is done about a status or a class instead of the general rule.
    pub recovery: Vec<Rule>,
    /// What hls.js does by itself, and no more (R7): 1, 2 and 4 s after 5xx and failures of the
    /// network, the rest final; no jitter, budget, breaker, pacing, hold or hook.
    pub naive: bool,
}

impl Config {
    /// The policy of `site`.
    pub const fn site(&self, site: Site) -> &SitePolicy {
        &self.sites[site as usize]
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            sites: Site::ALL.map(Site::defaults),
            estimator: EstimatorConfig::SPF,
            hold_limit: Millis::from_secs(600.0),
            log_capacity: 256,
            seed: 0,
            budget: BudgetConfig::default(),
            breaker: BreakerConfig::default(),
            recovery: Vec::new(),
            naive: false,
        }
    }
}

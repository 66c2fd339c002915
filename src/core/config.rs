//! What an engine is built with. Values arrive validated: the boundary parses, the core
//! believes.

use super::clock::Millis;
use super::estimate::EstimatorConfig;
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
            hold_limit: Millis::from_secs(300.0),
            log_capacity: 256,
            seed: 0,
        }
    }
}

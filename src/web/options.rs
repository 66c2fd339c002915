//! The options as JavaScript flattens them: numbers in a fixed order.
//!
//! They were validated where the messages are made. What is missing or not a number here
//! keeps its default, so that a mistake of ours cannot stop playback.

use crate::core::{Config, EstimatorConfig, Exhausted, Millis, Site, SitePolicy};

/// Numbers of one site.
const SITE_FIELDS: usize = 10;

/// The layout: the engine's own numbers, then one row a site in the order of the codes.
/// `[holdLimit, logCapacity, fastHalfLife, slowHalfLife, minBytes, minDuration,
/// minTotalBytes]`, then `[headersTimeout, firstHeadersTimeout, stallTimeout, attempts,
/// base, factor, cap, deadline, maxWait, onExhausted]` for each site.
pub(super) fn parse(numbers: &[f64], seed: u64) -> Config {
    let mut config = Config { seed, ..Config::default() };
    let (engine, sites) = numbers.split_at(numbers.len().min(7));
    if let [hold_limit, log_capacity, fast, slow, min_bytes, min_duration, min_total] = *engine {
        config.hold_limit = Millis::new(hold_limit);
        config.log_capacity = log_capacity as usize;
        config.estimator = EstimatorConfig {
            fast_half_life: fast,
            slow_half_life: slow,
            min_bytes,
            min_duration,
            min_total_bytes: min_total,
        };
    }
    for (site, row) in Site::ALL.into_iter().zip(sites.chunks_exact(SITE_FIELDS)) {
        config.sites[site as usize] = parse_site(row);
    }
    config
}

fn parse_site(row: &[f64]) -> SitePolicy {
    SitePolicy {
        headers_timeout: Millis::new(row[0]),
        first_headers_timeout: Millis::new(row[1]),
        stall_timeout: Millis::new(row[2]),
        attempts: row[3] as u32,
        backoff_base: Millis::new(row[4]),
        backoff_factor: row[5],
        backoff_cap: Millis::new(row[6]),
        deadline: Millis::new(row[7]),
        max_wait: Millis::new(row[8]),
        exhausted: match row[9] as u8 {
            1 => Exhausted::Hold,
            2 => Exhausted::Reject,
            _ => Exhausted::Auto,
        },
    }
}

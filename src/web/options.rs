//! The options as JavaScript flattens them: numbers in a fixed order.
//!
//! They were validated where the messages are made. What is missing or not a number here
//! keeps its default, so that a mistake of ours cannot stop playback.

use crate::core::{Config, Exhausted, Millis, SitePolicy};

/// The layout: `[holdLimit, logCapacity, fastHalfLife, slowHalfLife]`, then one row a site in
/// the order of the codes: `[headersTimeout, firstHeadersTimeout, stallTimeout, attempts,
/// base, factor, cap, deadline, maxWait, onExhausted]`.
pub(super) fn parse(numbers: &[f64], seed: u64) -> Config {
    let mut config = Config { seed, ..Config::default() };
    let Some(([hold_limit, log_capacity, fast, slow], sites)) = numbers.split_first_chunk() else {
        return config;
    };
    config.hold_limit = Millis::new(*hold_limit);
    config.log_capacity = *log_capacity as usize;
    config.estimator.fast_half_life = *fast;
    config.estimator.slow_half_life = *slow;
    for (policy, row) in config.sites.iter_mut().zip(sites.as_chunks().0) {
        *policy = parse_site(row);
    }
    config
}

fn parse_site(row: &[f64; 10]) -> SitePolicy {
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

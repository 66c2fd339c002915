//! The options as JavaScript flattens them: numbers in a fixed order.
//!
//! They were validated where the messages are made, and that is where the defaults are. A number
//! that is missing is zero.

use crate::core::{
    BreakerConfig, BudgetConfig, Config, EstimatorConfig, Exhausted, FailureClass, Matter, Millis,
    Recovery, Rule, Site, SitePolicy,
};

/// Numbers before the rows of the sites: `[holdLimit, logCapacity, fastHalfLife, slowHalfLife,
/// naive]`, then `[host, source, session, earn, episode]` of the budget, then `[consecutive,
/// window, minRequests, ratio, base, factor, cap, decay, exhausted]` of the breaker.
const HEAD: usize = 19;

/// One row a site, in the order of the codes: `[headersTimeout, firstHeadersTimeout, stallTimeout,
/// attempts, base, factor, cap, deadline, maxWait, onExhausted, rotateAfter]`.
const ROW: usize = 11;

/// A rule says of all sites what it says.
const EVERYWHERE: f64 = -1.0;

/// The matter of a rule is a status, or a class above this.
const CLASSES: f64 = 1000.0;

/// The layout: the head, the rows, and then the rules of the recovery matrix as `[site, matter,
/// action]`.
pub(super) fn parse(numbers: &[f64], seed: u64) -> Config {
    let number = |place: usize| numbers.get(place).copied().unwrap_or_default();
    let rules = numbers.get(HEAD + ROW * Site::COUNT..).unwrap_or_default();
    Config {
        sites: Site::ALL.map(|site| parse_site(|place| number(HEAD + ROW * site as usize + place))),
        estimator: EstimatorConfig {
            fast_half_life: number(2),
            slow_half_life: number(3),
            ..EstimatorConfig::SPF
        },
        hold_limit: Millis::new(number(0)),
        log_capacity: number(1) as usize,
        seed,
        budget: BudgetConfig {
            host: number(5),
            source: number(6),
            session: number(7),
            earn: number(8),
            episode: number(9) as u32,
        },
        breaker: BreakerConfig {
            consecutive: number(10) as u32,
            window: Millis::new(number(11)),
            min_requests: number(12) as u32,
            ratio: number(13),
            open_base: Millis::new(number(14)),
            growth: number(15),
            open_cap: Millis::new(number(16)),
            clean_decay: Millis::new(number(17)),
            trip_exhausted: number(18) != 0.0,
        },
        recovery: rules.as_chunks().0.iter().filter_map(parse_rule).collect(),
        naive: number(4) != 0.0,
    }
}

fn parse_site(number: impl Fn(usize) -> f64) -> SitePolicy {
    let span = |place| Millis::new(number(place));
    SitePolicy {
        headers_timeout: span(0),
        first_headers_timeout: span(1),
        stall_timeout: span(2),
        attempts: number(3) as u32,
        backoff_base: span(4),
        backoff_factor: number(5),
        backoff_cap: span(6),
        deadline: span(7),
        max_wait: span(8),
        exhausted: match number(9) as u8 {
            1 => Exhausted::Hold,
            2 => Exhausted::Reject,
            _ => Exhausted::Auto,
        },
        rotate_after: number(10) as u32,
    }
}

fn parse_rule(&[site, matter, action]: &[f64; 3]) -> Option<Rule> {
    let site = if site == EVERYWHERE { None } else { Some(Site::from_code(site as u32)?) };
    let matter = if matter >= CLASSES {
        Matter::Class(FailureClass::from_code((matter - CLASSES) as u32)?)
    } else {
        Matter::Status(matter as u16)
    };
    let action = Recovery::from_code(action as u32)?;
    Some(Rule { site, matter, action })
}

//! The options as JavaScript flattens them: numbers in a fixed order.
//!
//! They were validated where the messages are made, and that is where the defaults are. A number
//! that is missing is zero.

use std::sync::Arc;

use crate::core::{
    BreakerConfig, BudgetConfig, Config, EstimatorConfig, Exhausted, FailureClass, Matter, Millis,
    Recovery, Resume, Rule, Site, SitePolicy,
};

/// Numbers before the rows of the sites: `[holdLimit, logCapacity, fastHalfLife, slowHalfLife,
/// naive]`, then `[host, source, session, earn, episode]` of the budget, then `[consecutive,
/// window, minRequests, ratio, base, factor, cap, decay, exhausted]` of the breaker.
const HEAD: usize = 19;

/// One row a site, in the order of the codes: `[headersTimeout, firstHeadersTimeout, stallTimeout,
/// attempts, base, factor, cap, deadline, maxWait, onExhausted, rotateAfter, resume]`.
const ROW: usize = 12;

/// A rule says of all sites what it says.
const EVERYWHERE: f64 = -1.0;

/// The matter of a rule is a status, or a class above this.
const CLASSES: f64 = 1000.0;

/// The numbers, one after the other.
struct Numbers<'a>(std::slice::Iter<'a, f64>);

impl Numbers<'_> {
    #[inline(never)]
    fn next(&mut self) -> f64 {
        self.0.next().copied().unwrap_or_default()
    }

    #[inline(never)]
    fn span(&mut self) -> Millis {
        Millis::new(self.next())
    }
}

/// The layout: the head, the rows, and then the rules of the recovery matrix as `[site, matter,
/// action]`.
pub(super) fn parse(numbers: &[f64], seed: u64) -> Arc<Config> {
    let rules = numbers.get(HEAD + ROW * Site::COUNT..).unwrap_or_default();
    let mut numbers = Numbers(numbers.iter());
    let numbers = &mut numbers;
    // In the order of the layout.
    Arc::new(Config {
        hold_limit: numbers.span(),
        log_capacity: numbers.next() as usize,
        estimator: EstimatorConfig {
            fast_half_life: numbers.next(),
            slow_half_life: numbers.next(),
            ..EstimatorConfig::SPF
        },
        naive: numbers.next() != 0.0,
        budget: BudgetConfig {
            host: numbers.next(),
            source: numbers.next(),
            session: numbers.next(),
            earn: numbers.next(),
            episode: numbers.next() as u32,
        },
        breaker: BreakerConfig {
            consecutive: numbers.next() as u32,
            window: numbers.span(),
            min_requests: numbers.next() as u32,
            ratio: numbers.next(),
            open_base: numbers.span(),
            growth: numbers.next(),
            open_cap: numbers.span(),
            clean_decay: numbers.span(),
            trip_exhausted: numbers.next() != 0.0,
        },
        sites: Site::ALL.map(|_| parse_site(numbers)),
        recovery: rules.as_chunks().0.iter().filter_map(parse_rule).collect(),
        seed,
    })
}

fn parse_site(numbers: &mut Numbers<'_>) -> SitePolicy {
    SitePolicy {
        headers_timeout: numbers.span(),
        first_headers_timeout: numbers.span(),
        stall_timeout: numbers.span(),
        attempts: numbers.next() as u32,
        backoff_base: numbers.span(),
        backoff_factor: numbers.next(),
        backoff_cap: numbers.span(),
        deadline: numbers.span(),
        max_wait: numbers.span(),
        exhausted: match numbers.next() as u8 {
            1 => Exhausted::Hold,
            2 => Exhausted::Reject,
            _ => Exhausted::Auto,
        },
        rotate_after: numbers.next() as u32,
        resume: Resume::from_bits(numbers.next() as u32),
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

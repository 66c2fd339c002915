//! The recovery matrix: what is done about a status or a class where a site, or the embedder,
//! knows better than the general rule (R5, R24).

use super::classify::{Classification, FailureClass, Retryable};
use super::clock::Millis;
use super::site::Site;

/// What is done about a failure. The codes are stable.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub enum Recovery {
    /// Sent again, as often as the ladder has steps.
    Retry = 0,
    /// Final.
    Fail = 1,
    /// Sent again once.
    Once = 2,
    /// Perhaps not there yet: at the live edge asked for twice more, half a target duration
    /// apart; elsewhere once more, to be sure.
    Grace = 3,
    /// Being prepared: asked for after 5 s, then every minute, six times in all.
    NotReady = 4,
    /// The credential has expired: it is refreshed, where there is a hook.
    Refresh = 5,
}

impl Recovery {
    /// All actions, in the order of their codes.
    pub const ALL: [Self; 6] =
        [Self::Retry, Self::Fail, Self::Once, Self::Grace, Self::NotReady, Self::Refresh];

    /// The action with this code, if there is one.
    pub fn from_code(code: u32) -> Option<Self> {
        Self::ALL.get(code as usize).copied()
    }
}

/// What a rule is about.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Matter {
    /// All failures of this class.
    Class(FailureClass),
    /// This status.
    Status(u16),
}

/// One entry of the matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// At this site, or everywhere.
    pub site: Option<Site>,
    /// About this.
    pub matter: Matter,
    /// Do that.
    pub action: Recovery,
}

/// What the sites know by themselves: segments and playlists appear late, and some origins refuse
/// what is not published yet.
const fn usual(site: Site, live: bool, status: u16) -> Option<Recovery> {
    match (site, status) {
        (Site::Segment | Site::Init | Site::PlaylistReload, 404) => Some(Recovery::Grace),
        (Site::Segment, 403) if live => Some(Recovery::Grace),
        _ => None,
    }
}

/// What the matrix says of a failure, if anything. The most specific rule wins: a site's before
/// everybody's, a status's before a class's, and what the embedder said before the defaults.
pub(super) fn recovery(
    rules: &[Rule],
    site: Site,
    live: bool,
    class: FailureClass,
    status: u16,
) -> Option<Recovery> {
    // Whatever anybody says: the law and the caller have the last word.
    if matches!(class, FailureClass::Legal | FailureClass::Aborted) {
        return None;
    }
    let about = |matter: Matter| match matter {
        Matter::Class(of) => of == class,
        Matter::Status(of) => of == status,
    };
    let rank = |rule: &Rule| (rule.site.is_some(), matches!(rule.matter, Matter::Status(_)));
    let applies = |rule: &&Rule| rule.site.is_none_or(|of| of == site) && about(rule.matter);
    let own = rules.iter().filter(applies).max_by_key(|rule| rank(rule));
    own.map(|rule| rule.action).or_else(|| usual(site, live, status))
}

/// A classification with what the matrix says of it.
pub(super) const fn recovered(
    classification: Classification,
    recovery: Option<Recovery>,
) -> Classification {
    let retryable = match recovery {
        None | Some(Recovery::Refresh) => classification.retryable,
        Some(Recovery::Fail) => Retryable::Never,
        Some(Recovery::Grace) => Retryable::Grace,
        Some(Recovery::NotReady) => Retryable::NotReady,
        Some(Recovery::Once) => Retryable::Once,
        Some(Recovery::Retry) => Retryable::Always,
    };
    // What is asked for again is not free, whatever the general rule has it cost.
    let cost = match retryable {
        Retryable::Never => classification.cost,
        _ if classification.cost > 0.0 => classification.cost,
        _ if matches!(classification.class, FailureClass::Offline) => 0.0,
        _ => 1.0,
    };
    Classification { retryable, cost, ..classification }
}

/// How long until what is perhaps not there yet is asked for again, for the `n`-th time from 1;
/// none once it is no use. `target` is the target duration.
pub(super) fn grace(live: bool, target: Option<Millis>, n: u32) -> Option<Millis> {
    let target = target.unwrap_or(Millis::new(4_000.0));
    match (live, n) {
        (true, 1 | 2) => Some((target * 0.5).clamp(Millis::new(500.0), Millis::new(5_000.0))),
        (false, 1) => Some(Millis::new(750.0)),
        _ => None,
    }
}

/// The same for what is being prepared.
pub(super) const fn not_ready(n: u32) -> Option<Millis> {
    match n {
        1 => Some(Millis::new(5_000.0)),
        2..=6 => Some(Millis::new(60_000.0)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEGMENT: Site = Site::Segment;

    #[test]
    fn codes_are_positions() {
        for (code, action) in (0..).zip(Recovery::ALL) {
            assert_eq!(action as u32, code);
            assert_eq!(Recovery::from_code(code), Some(action));
        }
        assert_eq!(Recovery::from_code(6), None);
    }

    #[test]
    fn r5_the_most_specific_rule_wins() {
        let class = Matter::Class(FailureClass::NotFound);
        let rules = [
            Rule { site: None, matter: class, action: Recovery::Retry },
            Rule { site: None, matter: Matter::Status(404), action: Recovery::Once },
            Rule { site: Some(SEGMENT), matter: class, action: Recovery::NotReady },
        ];
        let at = |rules: &[Rule], site| recovery(rules, site, false, FailureClass::NotFound, 404);
        assert_eq!(at(&rules[..1], SEGMENT), Some(Recovery::Retry));
        assert_eq!(at(&rules[..2], SEGMENT), Some(Recovery::Once));
        assert_eq!(at(&rules, SEGMENT), Some(Recovery::NotReady));
        assert_eq!(at(&rules, Site::Key), Some(Recovery::Once));
        assert_eq!(at(&[], SEGMENT), Some(Recovery::Grace));
        assert_eq!(at(&[], Site::Key), None);
    }

    #[test]
    fn r24_451_and_the_callers_abort_are_out_of_reach() {
        let rules = [Rule { site: None, matter: Matter::Status(451), action: Recovery::Retry }];
        assert_eq!(recovery(&rules, SEGMENT, false, FailureClass::Legal, 451), None);
        let aborted = Matter::Class(FailureClass::Aborted);
        let rules = [Rule { site: None, matter: aborted, action: Recovery::Retry }];
        assert_eq!(recovery(&rules, SEGMENT, false, FailureClass::Aborted, 0), None);
    }

    #[test]
    fn r24_a_403_near_the_live_edge_is_perhaps_not_there_yet() {
        let denied = FailureClass::Denied;
        assert_eq!(recovery(&[], SEGMENT, true, denied, 403), Some(Recovery::Grace));
        assert_eq!(recovery(&[], SEGMENT, false, denied, 403), None);
        assert_eq!(recovery(&[], SEGMENT, true, denied, 401), None);
        assert_eq!(recovery(&[], Site::Key, true, denied, 403), None);
    }

    #[test]
    fn spans() {
        let target = Some(Millis::new(6_000.0));
        let edge: Vec<_> = (1..=3).map(|n| grace(true, target, n).map(Millis::get)).collect();
        assert_eq!(edge, [Some(3_000.0), Some(3_000.0), None]);
        assert_eq!(grace(true, None, 1), Some(Millis::new(2_000.0)));
        assert_eq!(grace(true, Some(Millis::new(60_000.0)), 1), Some(Millis::new(5_000.0)));
        assert_eq!(grace(true, Some(Millis::new(100.0)), 2), Some(Millis::new(500.0)));
        assert_eq!(
            [grace(false, None, 1), grace(false, None, 2)],
            [Some(Millis::new(750.0)), None]
        );
        let polls: Vec<_> = (1..=7).map(|n| not_ready(n).map(Millis::as_secs)).collect();
        let minute = Some(60.0);
        assert_eq!(polls, [Some(5.0), minute, minute, minute, minute, minute, None]);
    }
}

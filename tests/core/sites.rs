//! The defaults against `tests/vectors/sites.json` and `protection.json`, which JavaScript is held
//! to as well.

use std::sync::Arc;

use holdfast::core::{
    Alternatives, BudgetConfig, Config, Engine, Exhausted, Millis, Site, SiteClass, SitePolicy,
};
use serde_json::{Value, json};

use crate::common::{World, ask, status};

const NAMES: [(&str, Site); Site::COUNT] = [
    ("manifest", Site::Manifest),
    ("playlist", Site::Playlist),
    ("playlist-reload", Site::PlaylistReload),
    ("init", Site::Init),
    ("segment", Site::Segment),
    ("key", Site::Key),
    ("license", Site::License),
    ("certificate", Site::Certificate),
    ("text-segment", Site::TextSegment),
    ("steering", Site::Steering),
    ("other", Site::Other),
];

fn as_json(policy: &SitePolicy) -> Value {
    json!({
        "headersTimeout": policy.headers_timeout.get(),
        "firstHeadersTimeout": policy.first_headers_timeout.get(),
        "stallTimeout": policy.stall_timeout.get(),
        "attempts": f64::from(policy.attempts),
        "backoff": {
            "base": policy.backoff_base.get(),
            "factor": policy.backoff_factor,
            "cap": policy.backoff_cap.get(),
        },
        "deadline": policy.deadline.get(),
        "maxWait": policy.max_wait.get(),
        "onExhausted": match policy.exhausted {
            Exhausted::Auto => "auto",
            Exhausted::Hold => "hold",
            Exhausted::Reject => "reject",
        },
        "rotateAfter": f64::from(policy.rotate_after),
    })
}

/// Numbers compare as numbers, whether or not they were written with a point.
fn with_floats(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (name.clone(), with_floats(value))).collect()
        }
        other => other.clone(),
    }
}

fn table() -> Value {
    let table = serde_json::from_str(include_str!("../vectors/sites.json")).expect("it is JSON");
    with_floats(&table)
}

#[test]
fn r5_every_site_has_the_policy_of_the_table() {
    let table = table();
    for (name, site) in NAMES {
        assert_eq!(as_json(&site.defaults()), table[name], "{name}");
    }
    assert_eq!(table.as_object().map(serde_json::Map::len), Some(Site::COUNT));
}

#[test]
fn r5_budget_and_breaker_have_the_numbers_of_the_table() {
    let table = serde_json::from_str(include_str!("../vectors/protection.json"));
    let table = with_floats(&table.expect("it is JSON"));
    let BudgetConfig { host, source, session, earn, episode } = Config::default().budget;
    let budget = json!({
        "host": host, "source": source, "session": session, "earn": earn,
        "episode": f64::from(episode),
    });
    assert_eq!(budget, table["budget"]);
    let breaker = Config::default().breaker;
    let breaker = json!({
        "consecutive": f64::from(breaker.consecutive),
        "window": breaker.window.get(),
        "minRequests": f64::from(breaker.min_requests),
        "ratio": breaker.ratio,
        "base": breaker.open_base.get(),
        "factor": breaker.growth,
        "cap": breaker.open_cap.get(),
        "decay": breaker.clean_decay.get(),
        "exhausted": breaker.trip_exhausted,
    });
    assert_eq!(breaker, table["breaker"]);
}

#[test]
fn r5_an_engine_without_options_has_the_policies_of_the_table() {
    let config = Config::default();
    for site in Site::ALL {
        assert_eq!(*config.site(site), site.defaults(), "{site:?}");
    }
}

#[test]
fn engines_that_share_a_configuration_decide_by_their_own_seeds_and_sources() {
    let sent = |engine, source: Option<Config>| {
        let mut world = World::new();
        world.engine = engine;
        if let Some(config) = source {
            world.engine.handle_source(config.into(), Millis::ZERO);
        }
        let id =
            world.start(ask(Site::Segment).always(status(500)).alternatives(Alternatives::None));
        world.drive_until(60_000.0);
        world.sent_at(id)
    };
    let own = |seed| sent(Engine::new(Config { seed, ..Config::default() }), None);
    let shared = Arc::new(Config::default());
    let mut other = Config::default();
    other.sites[Site::Segment as usize].attempts = 1;
    let changed = sent(Engine::sharing(shared.clone(), 7), Some(other));
    assert_ne!(changed, own(7));
    assert_eq!(sent(Engine::sharing(shared.clone(), 7), None), own(7));
    assert_eq!(sent(Engine::sharing(shared, 8), None), own(8));
    assert_ne!(own(7), own(8));
}

#[test]
fn r5_sites_are_of_the_classes_of_the_table() {
    let of = |class| Site::ALL.into_iter().filter(|site| site.class() == class).collect::<Vec<_>>();
    let control = [Site::Manifest, Site::PlaylistReload, Site::Steering];
    let bulk = [Site::Init, Site::Segment, Site::TextSegment];
    assert_eq!(of(SiteClass::Control), control);
    assert_eq!(of(SiteClass::BulkTransfer), bulk);
}

#[test]
fn r5_an_interactive_site_has_at_most_two_retries() {
    for site in Site::ALL.into_iter().filter(|site| site.class() == SiteClass::Interactive) {
        assert!(site.defaults().attempts <= 3, "{site:?}");
    }
}

#[test]
fn r15_the_manifest_has_the_longest_ladder_of_what_playback_needs() {
    let manifest = Site::Manifest.defaults();
    for site in [Site::Playlist, Site::PlaylistReload, Site::Init, Site::Segment, Site::Key] {
        assert!(manifest.attempts > site.defaults().attempts, "{site:?}");
        assert!(manifest.deadline > site.defaults().deadline, "{site:?}");
    }
}

#[test]
fn r26_only_interactive_sites_refuse_a_wait_below_five_minutes() {
    for site in Site::ALL {
        let patient = site.defaults().max_wait.get() == 300_000.0;
        assert_eq!(patient, site.class() != SiteClass::Interactive, "{site:?}");
    }
}

#[test]
fn r28_keys_and_licenses_are_never_judged_by_their_bytes() {
    for site in [Site::Key, Site::License, Site::Certificate, Site::Other] {
        assert!(!site.expects_media(), "{site:?}");
    }
}

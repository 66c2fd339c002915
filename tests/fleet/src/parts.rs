//! The parts of the benchmark.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use holdfast::core::{Config, Engine};

use crate::calendar::Ms;
use crate::grid::{
    HEADROOMS, LONG_QUEUE, MILLION, MODES, OUTAGES, PEERS, PHASE_HEADROOMS, PHASE_OUTAGES, PHASES,
    scenario,
};
use crate::memory::{self, Weighed};
use crate::metrics::{Summary, Trace};
use crate::policy::ours::Ours;
use crate::policy::peer::{Peer, Policy};
use crate::references;
use crate::row::Row;
use crate::scenario::{Mode, Phase, Scenario};
use crate::sim::Sim;

/// How the parts are run.
#[derive(Default)]
pub struct Options {
    /// Of all randomness.
    pub seed: u64,
    /// As little as shows that it works.
    pub smoke: bool,
    /// Only these policies; all where empty.
    pub policies: Vec<String>,
    /// So many viewers in a run of the grid, for a quick look.
    pub viewers: Option<u32>,
}

/// Runs a part and prints its rows.
pub type Part = fn(&Options);

/// The parts, by name.
pub const PARTS: [(&str, Part); 6] = [
    ("references", references),
    ("sweep", sweep),
    ("phase", phase),
    ("load", load),
    ("million", million),
    ("memory", memory),
];

/// Whose policy a run is about.
#[derive(Clone, Copy)]
enum Side {
    Ours,
    Peer(&'static Policy),
}

/// Our name in results.
const OURS: &str = "Holdfast";

/// What all viewers of a fleet share, but for their log.
fn logging(log_capacity: usize) -> Arc<Config> {
    Arc::new(Config { log_capacity, ..Config::default() })
}

impl Side {
    fn all(options: &Options) -> Vec<Self> {
        let peers = PEERS.iter().map(|policy| Self::Peer(policy));
        let all = std::iter::once(Self::Ours).chain(peers);
        let named = |side: &Self| {
            options.policies.is_empty() || options.policies.iter().any(|name| name == side.name())
        };
        all.filter(named).collect()
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Ours => OURS,
            Self::Peer(policy) => policy.name,
        }
    }

    fn run(self, scenario: Scenario) -> Trace {
        match self {
            // A viewer's log is kept short, as an application with many engines would.
            Self::Ours => Sim::<Ours>::run(scenario, logging(0)),
            Self::Peer(policy) => Sim::<Peer>::run(scenario, policy),
        }
    }
}

/// How often the progress of many runs is told, in seconds.
const TOLD: u64 = 15;

/// Does jobs on all cores, in their order as far as it goes.
fn in_parallel<T: Sync>(what: &str, jobs: &[T], work: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    let told = AtomicU64::new(0);
    let started = Instant::now();
    let tell = |done: usize| {
        let seconds = started.elapsed().as_secs();
        if seconds >= told.load(Ordering::Relaxed) + TOLD {
            told.store(seconds, Ordering::Relaxed);
            eprintln!("{what}: {done} of {} runs", jobs.len());
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..cores.min(jobs.len()) {
            scope.spawn(|| {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(place) else { break };
                    tell(place);
                    work(job);
                }
            });
        }
    });
}

/// One line at a time.
static OUTPUT: Mutex<()> = Mutex::new(());

fn print(row: Row) {
    let _guard = OUTPUT.lock();
    row.print();
}

fn summary_row(part: &str, side: Side, scenario: &Scenario, summary: &Summary, wall: f64) -> Row {
    Row::new(part)
        .text("policy", side.name())
        .text("mode", scenario.mode.name())
        .text("phase", scenario.phase.name())
        .number("outageS", f64::from(scenario.outage) / 1_000.0)
        .number("headroom", scenario.headroom)
        .number("queueS", f64::from(scenario.queue) / 1_000.0)
        .number("viewers", f64::from(scenario.viewers))
        .number("outageLoad", summary.outage_load)
        .number("lateLoad", summary.late_load)
        .number("load", summary.load)
        .number("peak", summary.peak)
        .number("healthyPeak", summary.healthy_peak)
        .number("endLoad", summary.end_load)
        .number("recover95S", summary.recover95)
        .number("recover99S", summary.recover99)
        .number("stallPerViewerS", summary.stall)
        .number("deadPct", summary.dead)
        .number("gonePct", summary.gone)
        .number("wastedPct", summary.wasted)
        .number("retryAfterViolations", summary.violations as f64)
        .number("wallS", wall)
}

/// Runs each side through each scenario, beside itself without a fault.
fn compare(part: &str, sides: &[Side], scenarios: &[Scenario]) {
    let healthy =
        |scenario: &Scenario, outage: Ms| Scenario { mode: Mode::Healthy, outage, ..*scenario };
    let key = |side: usize, scenario: &Scenario| {
        let Scenario { phase, headroom, queue, .. } = *scenario;
        (side, phase as u8, (headroom * 1_000.0) as u32, queue)
    };
    // What a fleet does without a fault is the same up to the end of the shorter run.
    let longest = scenarios.iter().map(|scenario| scenario.outage).max().unwrap_or_default();
    let mut wanted = BTreeMap::new();
    for side in 0..sides.len() {
        for scenario in scenarios {
            wanted.insert(key(side, scenario), healthy(scenario, longest));
        }
    }
    let wanted: Vec<_> = wanted.into_iter().collect();
    let traces = Mutex::new(BTreeMap::new());
    in_parallel("without a fault", &wanted, |(key, scenario)| {
        let trace = sides[key.0].run(*scenario);
        if let Ok(mut traces) = traces.lock() {
            traces.insert(*key, trace);
        }
    });
    let traces = traces.into_inner().unwrap_or_default();
    let jobs: Vec<_> = scenarios
        .iter()
        .flat_map(|scenario| (0..sides.len()).map(move |side| (side, *scenario)))
        .collect();
    in_parallel(part, &jobs, |(side, scenario)| {
        let started = Instant::now();
        let trace = sides[*side].run(*scenario);
        let wall = started.elapsed().as_secs_f64();
        let summary = trace.sum_up(scenario, &traces[&key(*side, scenario)]);
        print(summary_row(part, sides[*side], scenario, &summary, wall));
    });
}

fn references(_: &Options) {
    for reference in references::all() {
        let row = Row::new("references")
            .text("name", &reference.name)
            .number("expected", reference.expected)
            .number("measured", reference.measured)
            .number("tolerance", reference.tolerance)
            .flag("ok", reference.holds());
        print(row);
    }
}

/// The grid.
fn sweep(options: &Options) {
    let mut scenarios = Vec::new();
    for phase in PHASES {
        for mode in MODES {
            for outage in OUTAGES {
                for headroom in HEADROOMS {
                    scenarios.push(scenario(mode, phase, outage, headroom, options.seed));
                }
            }
        }
    }
    if options.smoke {
        scenarios.retain(|scenario| scenario.outage == 60_000 && scenario.headroom == 1.3);
        for scenario in &mut scenarios {
            scenario.viewers = 2_000;
        }
    }
    for scenario in &mut scenarios {
        scenario.viewers = options.viewers.unwrap_or(scenario.viewers);
    }
    compare("sweep", &Side::all(options), &scenarios);
}

/// Where a fleet keeps its origin down after the fault is gone: a long queue.
fn phase(options: &Options) {
    let mut scenarios = Vec::new();
    for mode in [Mode::Brownout, Mode::Error] {
        for outage in PHASE_OUTAGES {
            for headroom in PHASE_HEADROOMS {
                let plain = scenario(mode, Phase::Uniform, outage, headroom, options.seed);
                scenarios.push(Scenario { queue: LONG_QUEUE, ..plain });
            }
        }
    }
    if options.smoke {
        scenarios.retain(|scenario| scenario.outage == 20_000 && scenario.headroom == 1.05);
        for scenario in &mut scenarios {
            scenario.viewers = 2_000;
        }
    }
    compare("phase", &Side::all(options), &scenarios);
}

/// The load second by second in the outage of the headline.
fn load(options: &Options) {
    let mut jobs = Vec::new();
    for phase in [Phase::Uniform, Phase::Edge] {
        for mode in [Mode::Error, Mode::Blackhole, Mode::Brownout] {
            for side in Side::all(options) {
                jobs.push((side, scenario(mode, phase, 60_000, 1.3, options.seed)));
            }
        }
    }
    if options.smoke {
        jobs.retain(|(_, scenario)| {
            scenario.mode == Mode::Error && scenario.phase == Phase::Uniform
        });
    }
    in_parallel("load", &jobs, |(side, scenario)| {
        let trace = side.run(*scenario);
        let steady = scenario.steady();
        let row = Row::new("load")
            .text("policy", side.name())
            .text("mode", scenario.mode.name())
            .text("phase", scenario.phase.name())
            .number("outageS", f64::from(scenario.outage) / 1_000.0)
            .number("headroom", scenario.headroom)
            .number("viewers", f64::from(scenario.viewers))
            .number("onsetS", f64::from(scenario.warm) / 1_000.0)
            .numbers("series", trace.arrivals.iter().map(|count| f64::from(*count) / steady));
        print(row);
    });
}

/// A million viewers through a minute.
fn million(options: &Options) {
    let viewers = if options.smoke { 20_000 } else { MILLION };
    let sides = Side::all(options);
    let plain = scenario(Mode::Error, Phase::Uniform, 60_000, 1.3, options.seed);
    let million = Scenario { viewers, warm: 10_000, tail: 45_000, ..plain };
    // Ours alone: nobody's policy but ours needs so much memory for it.
    for side in sides.into_iter().take(1) {
        let started = Instant::now();
        let trace = side.run(million);
        let wall = started.elapsed().as_secs_f64();
        // Steady play is known: each viewer asks once in a segment's time.
        let mut healthy = Trace::new(&million);
        healthy.arrivals.fill(million.steady() as u32);
        let summary = trace.sum_up(&million, &healthy);
        let row = summary_row("million", side, &million, &summary, wall);
        print(row.number("peakRssMB", memory::peak_rss()));
    }
}

/// What an engine takes.
fn memory(options: &Options) {
    let logs = [("none", 0), ("32", 32), ("default", Config::default().log_capacity)];
    for phase in [Phase::Uniform, Phase::Edge] {
        for (name, log) in logs {
            memory::reset();
            let plain = scenario(Mode::Error, phase, 60_000, 1.3, options.seed);
            Sim::<Weighed>::run(Scenario { viewers: 200, ..plain }, logging(log));
            let (most, mean) = memory::weights();
            let row = Row::new("memory")
                .text("policy", OURS)
                .text("phase", phase.name())
                .text("log", name)
                .number("engineBytes", most)
                .number("meanEngineBytes", mean)
                .number("engineStructBytes", size_of::<Engine>() as f64)
                .number("sharedConfigBytes", size_of::<Config>() as f64);
            print(row);
        }
    }
}

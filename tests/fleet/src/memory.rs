//! How much memory an engine takes: an allocator that counts.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

use holdfast::core::{Config, Site};

use crate::calendar::Ms;
use crate::client::{Client, Context};
use crate::policy::ours::Ours;

/// Counts the bytes of each thread.
pub struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

thread_local! {
    static LIVE: Cell<isize> = const { Cell::new(0) };
}

/// Bytes that this thread has allocated and not freed.
pub fn live() -> isize {
    LIVE.with(Cell::get)
}

fn count(bytes: isize) {
    LIVE.with(|live| live.set(live.get() + bytes));
}

// SAFETY: all work is left to the system's allocator.
#[allow(unsafe_code, reason = "the trait asks for it")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as isize - layout.size() as isize);
        unsafe { System.realloc(place, layout, size) }
    }
}

/// An engine that keeps the most bytes that it has ever held, over all of its kind.
pub struct Weighed {
    ours: Ours,
    held: isize,
}

thread_local! {
    static MOST: Cell<isize> = const { Cell::new(0) };
    static SUM: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
}

/// The most bytes that one engine on this thread has held, and how many it held on average over
/// all facts.
pub fn weights() -> (f64, f64) {
    let (sum, count) = SUM.with(Cell::get);
    (MOST.with(Cell::get) as f64, sum as f64 / count.max(1) as f64)
}

/// Forgets all weights.
pub fn reset() {
    MOST.with(|most| most.set(0));
    SUM.with(|sum| sum.set((0, 0)));
}

impl Weighed {
    fn weigh<T>(&mut self, fact: impl FnOnce(&mut Ours) -> T) -> T {
        let before = live();
        let answer = fact(&mut self.ours);
        self.held += live() - before;
        let held = self.held + size_of::<Ours>() as isize;
        MOST.with(|most| most.set(most.get().max(held)));
        SUM.with(|sum| sum.set((sum.get().0 + held, sum.get().1 + 1)));
        answer
    }
}

impl Client for Weighed {
    type Kind = Arc<Config>;

    fn new(config: Arc<Config>, seed: u64) -> Self {
        let before = live();
        let ours = Ours::new(config, seed);
        Self { ours, held: live() - before }
    }

    fn start(&mut self, slot: u8, site: Site, url: u32, context: &mut Context<'_>) {
        self.weigh(|ours| ours.start(slot, site, url, context));
    }

    fn handle_head(&mut self, slot: u8, context: &mut Context<'_>) {
        self.weigh(|ours| ours.handle_head(slot, context));
    }

    fn handle_refusal(&mut self, slot: u8, retry_after: Option<Ms>, context: &mut Context<'_>) {
        self.weigh(|ours| ours.handle_refusal(slot, retry_after, context));
    }

    fn handle_end(&mut self, slot: u8, context: &mut Context<'_>) {
        self.weigh(|ours| ours.handle_end(slot, context));
    }

    fn wake(&mut self, context: &mut Context<'_>) {
        self.weigh(|ours| ours.wake(context));
    }

    fn next_wake(&self) -> Option<Ms> {
        self.ours.next_wake()
    }
}

/// The most memory that this process has held, in MB.
pub fn peak_rss() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: f64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kilobytes / 1_024.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::scenario;
    use crate::scenario::{Mode, Phase, Scenario};
    use crate::sim::Sim;

    /// What one engine may take.
    const BAR: f64 = 4_096.0;

    #[test]
    fn an_engine_with_a_short_log_takes_four_kilobytes_at_most() {
        for phase in [Phase::Uniform, Phase::Edge] {
            reset();
            let plain = scenario(Mode::Error, phase, 60_000, 1.3, 1);
            let config = Arc::new(Config { log_capacity: 32, ..Config::default() });
            Sim::<Weighed>::run(Scenario { viewers: 50, ..plain }, config);
            let (most, mean) = weights();
            assert!(mean > 1_000.0, "it is weighed");
            assert!(most <= BAR, "{}: {most}", phase.name());
        }
    }
}

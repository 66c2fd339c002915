//! A fleet and its origin.

use holdfast::core::Site;

use crate::calendar::{Calendar, Event, Kind, Ms, NONE};
use crate::client::{Client, Context, Deed, MEDIA, PLAYLIST};
use crate::metrics::Trace;
use crate::origin::{Bound, Origin, Reply, Service};
use crate::scenario::{Phase, SURGE, Scenario};
use crate::viewer::{BEHIND, GOAL, SEGMENT, STARTUP, Stage, Viewer, WINDOW};

/// From the origin to the viewer and back.
const ROUND_TRIP: f64 = 40.0;

/// How long the body of a response takes.
const TRANSFER: Ms = 400;

/// How many users load the page again after a fatal error, each time.
const PATIENT: f64 = 0.9;

/// How long after their picture froze, in milliseconds.
const RELOAD: (u32, u32) = (2_000, 8_000);

/// A run in progress.
pub struct Sim<C: Client> {
    scenario: Scenario,
    kind: C::Kind,
    calendar: Calendar,
    viewers: Vec<Viewer<C>>,
    origin: Origin,
    dice: fastrand::Rng,
    deeds: Vec<Deed>,
    trace: Trace,
}

impl<C: Client> Sim<C> {
    /// Runs a scenario from its start to its end.
    pub fn run(scenario: Scenario, kind: C::Kind) -> Trace {
        let mut sim = Self::new(scenario, kind);
        while let Some((now, event)) = sim.calendar.take() {
            sim.handle(event, now);
        }
        sim.close()
    }

    fn new(scenario: Scenario, kind: C::Kind) -> Self {
        let rate = scenario.steady() * scenario.headroom / 1_000.0;
        let bound = Bound::Work(f64::from(scenario.queue));
        let fault = scenario.mode.fault();
        let mut sim = Self {
            scenario,
            kind,
            calendar: Calendar::new(scenario.horizon()),
            viewers: Vec::with_capacity(scenario.viewers as usize),
            origin: Origin::new(rate, fault, scenario.span(), Service::Constant, bound),
            dice: fastrand::Rng::with_seed(scenario.seed),
            deeds: Vec::with_capacity(16),
            trace: Trace::new(&scenario),
        };
        for number in 0..scenario.viewers {
            sim.place(number);
        }
        sim
    }

    /// A viewer in the midst of steady play, or one who comes later.
    fn place(&mut self, number: u32) {
        let Scenario { phase, viewers, warm, .. } = self.scenario;
        let mut viewer = Viewer::new(C::new(self.kind.clone(), self.dice.u64(..)));
        viewer.offset = self.dice.u16(..1_000);
        if phase == Phase::Join && number < viewers / 5 {
            let at = warm + self.dice.u32(..SURGE);
            self.post(at, number, Kind::Join);
        } else {
            viewer.stage = Stage::Running;
            viewer.next = 1;
            if phase == Phase::Edge {
                viewer.dry_at = (BEHIND - 1) * SEGMENT + u32::from(viewer.offset);
                self.post(SEGMENT + u32::from(viewer.offset), number, Kind::Tick);
            } else {
                viewer.dry_at = self.dice.u32(GOAL - SEGMENT..GOAL);
                viewer.play_at = viewer.dry_at - (GOAL - SEGMENT);
                self.post(viewer.play_at, number, Kind::Play);
            }
        }
        self.viewers.push(viewer);
    }

    fn post(&mut self, at: Ms, viewer: u32, kind: Kind) {
        self.calendar.post(at, Event { viewer, kind, slot: 0, tag: 0 });
    }

    fn handle(&mut self, event: Event, now: Ms) {
        let Event { viewer: number, kind, slot, tag } = event;
        let viewer = &mut self.viewers[number as usize];
        match kind {
            Kind::Wake => {
                if viewer.wake_at != now {
                    return;
                }
                viewer.wake_at = NONE;
                if viewer.client.next_wake().is_some_and(|due| due <= now) {
                    self.tell(number, now, |client, context| client.wake(context));
                } else {
                    self.rearm(number);
                }
            }
            Kind::Head | Kind::Refusal | Kind::End if viewer.tags[slot as usize] != tag => {
                // Nobody waits for it any more.
                if kind != Kind::Refusal {
                    self.trace.wasted += 1;
                }
            }
            Kind::Head => {
                self.calendar.post(now + TRANSFER, Event { kind: Kind::End, ..event });
                self.tell(number, now, |client, context| client.handle_head(slot, context));
            }
            Kind::Refusal => {
                let asked = self.scenario.mode.retry_after();
                if let Some(wait) = asked {
                    viewer.not_before[slot as usize] = now + wait;
                }
                self.tell(number, now, |client, context| {
                    client.handle_refusal(slot, asked, context);
                });
            }
            Kind::End => {
                self.tell(number, now, |client, context| client.handle_end(slot, context));
            }
            Kind::Play => {
                if viewer.play_at == now {
                    viewer.play_at = NONE;
                    self.want(number, now);
                }
            }
            Kind::Tick => {
                let runs = viewer.stage == Stage::Running && !viewer.busy[PLAYLIST as usize];
                self.post(now + SEGMENT, number, Kind::Tick);
                if runs {
                    self.start(number, PLAYLIST, Site::PlaylistReload, 0, now);
                }
            }
            Kind::Join | Kind::Reload => {
                let seed = self.dice.u64(..);
                if kind == Kind::Join {
                    viewer.dry_at = now;
                    if self.scenario.phase == Phase::Edge {
                        let tick = (now / SEGMENT + 1) * SEGMENT + u32::from(viewer.offset);
                        self.post(tick, number, Kind::Tick);
                    }
                }
                let viewer = &mut self.viewers[number as usize];
                viewer.client = C::new(self.kind.clone(), seed);
                viewer.stage = Stage::Starting(0);
                viewer.wake_at = NONE;
                self.want(number, now);
            }
        }
    }

    /// The player asks for what it needs next, if there is room for it.
    fn want(&mut self, number: u32, now: Ms) {
        let live = self.scenario.phase == Phase::Edge;
        let viewer = &mut self.viewers[number as usize];
        if viewer.busy[MEDIA as usize] {
            return;
        }
        match viewer.stage {
            Stage::Absent | Stage::Dead => {}
            Stage::Starting(done) => {
                let site = STARTUP[done as usize];
                self.start(number, MEDIA, site, 1 + u32::from(done), now);
            }
            Stage::Running => {
                let room_at = viewer.dry_at.saturating_sub(GOAL - SEGMENT);
                if live && viewer.next > viewer.edge {
                    // The next playlist has it, perhaps.
                } else if room_at > now {
                    viewer.play_at = room_at;
                    self.post(room_at, number, Kind::Play);
                } else {
                    let url = 100 + viewer.next;
                    self.start(number, MEDIA, Site::Segment, url, now);
                }
            }
        }
    }

    fn start(&mut self, number: u32, slot: u8, site: Site, url: u32, now: Ms) {
        let viewer = &mut self.viewers[number as usize];
        viewer.busy[slot as usize] = true;
        viewer.not_before[slot as usize] = 0;
        self.tell(number, now, |client, context| client.start(slot, site, url, context));
    }

    /// Tells a client something, and does what follows.
    fn tell(&mut self, number: u32, now: Ms, fact: impl FnOnce(&mut C, &mut Context<'_>)) {
        let viewer = &mut self.viewers[number as usize];
        let mut deeds = std::mem::take(&mut self.deeds);
        let mut context = Context {
            now,
            buffer: viewer.buffer(now),
            live: self.scenario.phase == Phase::Edge,
            dice: &mut self.dice,
            deeds: &mut deeds,
        };
        fact(&mut viewer.client, &mut context);
        for deed in deeds.drain(..) {
            self.carry_out(number, deed, now);
        }
        self.deeds = deeds;
        self.rearm(number);
    }

    fn carry_out(&mut self, number: u32, deed: Deed, now: Ms) {
        let viewer = &mut self.viewers[number as usize];
        match deed {
            Deed::Send(slot) => self.send(number, slot, now),
            Deed::Cut(slot) => viewer.forget(slot),
            Deed::Done(slot) => {
                viewer.busy[slot as usize] = false;
                if slot == PLAYLIST { self.refresh(number, now) } else { self.advance(number, now) }
            }
            Deed::Dropped(slot) => viewer.busy[slot as usize] = false,
            Deed::Lost(_) => self.die(number, now),
        }
    }

    fn send(&mut self, number: u32, slot: u8, now: Ms) {
        let viewer = &mut self.viewers[number as usize];
        viewer.forget(slot);
        if now < viewer.not_before[slot as usize] {
            self.trace.violations += 1;
        }
        self.trace.arrive(now);
        let tag = viewer.tags[slot as usize];
        let (kind, at) = match self.origin.arrive(f64::from(now), &mut self.dice) {
            Reply::Never => return,
            Reply::Refused => (Kind::Refusal, f64::from(now)),
            Reply::Served(at) => {
                self.trace.served += 1;
                (Kind::Head, at)
            }
        };
        let event = Event { viewer: number, kind, slot, tag };
        self.calendar.post((at + ROUND_TRIP).ceil() as Ms, event);
    }

    /// A media request has succeeded.
    fn advance(&mut self, number: u32, now: Ms) {
        let live = self.scenario.phase == Phase::Edge;
        let viewer = &mut self.viewers[number as usize];
        match viewer.stage {
            Stage::Absent | Stage::Dead => return,
            Stage::Starting(done) if usize::from(done) + 1 < STARTUP.len() => {
                viewer.stage = Stage::Starting(done + 1);
            }
            Stage::Starting(_) => {
                viewer.stage = Stage::Running;
                viewer.edge = now / SEGMENT;
                if live {
                    viewer.next = viewer.edge + 1 - BEHIND;
                }
            }
            Stage::Running => {
                if viewer.dry_at < now {
                    self.trace.stall(viewer.dry_at, now);
                }
                viewer.dry_at = viewer.dry_at.max(now) + SEGMENT;
                viewer.next += 1;
            }
        }
        self.want(number, now);
    }

    /// A playlist has been read again.
    fn refresh(&mut self, number: u32, now: Ms) {
        let viewer = &mut self.viewers[number as usize];
        viewer.edge = now / SEGMENT;
        let is_dry = viewer.dry_at <= now && !viewer.busy[MEDIA as usize];
        if is_dry && viewer.next + WINDOW <= viewer.edge {
            viewer.next = viewer.edge + 1 - BEHIND;
        }
        self.want(number, now);
    }

    /// The player has stopped. Its user waits for what is buffered to end, and then a while.
    fn die(&mut self, number: u32, now: Ms) {
        let viewer = &mut self.viewers[number as usize];
        self.trace.dead += u32::from(!std::mem::replace(&mut viewer.has_died, true));
        viewer.stage = Stage::Dead;
        for slot in [MEDIA, PLAYLIST] {
            viewer.forget(slot);
            viewer.busy[slot as usize] = false;
        }
        viewer.play_at = NONE;
        let frozen = viewer.dry_at.max(now);
        if self.dice.f64() < PATIENT {
            self.trace.reloads += 1;
            let at = frozen + self.dice.u32(RELOAD.0..RELOAD.1);
            self.post(at, number, Kind::Reload);
        } else {
            self.trace.gone += 1;
        }
    }

    /// Sees to it that the client is woken in time. What is due later than the wake-up that is
    /// posted is looked at then.
    fn rearm(&mut self, number: u32) {
        let viewer = &mut self.viewers[number as usize];
        if viewer.stage == Stage::Dead {
            viewer.wake_at = NONE;
            return;
        }
        let Some(due) = viewer.client.next_wake() else { return };
        if due < viewer.wake_at {
            viewer.wake_at = due;
            self.post(due, number, Kind::Wake);
        }
    }

    fn close(mut self) -> Trace {
        let horizon = self.scenario.horizon();
        for viewer in &self.viewers {
            if viewer.dry_at < horizon {
                self.trace.stall(viewer.dry_at, horizon);
            }
        }
        self.trace
    }
}

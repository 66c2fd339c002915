//! What is to happen, and when: a bucket for each millisecond.
//!
//! Everything happens within minutes, so the buckets are an array over the whole run: posting and
//! taking cost the same however much is pending, as in a timing wheel of one turn.

/// Milliseconds since the start of a run.
pub type Ms = u32;

/// No time at all, or no event.
pub const NONE: u32 = u32::MAX;

/// What happens to a viewer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// The body of a response ends.
    End,
    /// The head of a success arrives.
    Head,
    /// The viewer comes.
    Join,
    /// Its buffer has room for a segment.
    Play,
    /// The head of a refusal arrives.
    Refusal,
    /// The user loads the page again.
    Reload,
    /// A new segment may be in the playlist.
    Tick,
    /// A timer of its client is due.
    Wake,
}

/// Something that happens.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// To whom.
    pub viewer: u32,
    /// What.
    pub kind: Kind,
    /// In which of its slots.
    pub slot: u8,
    /// To which attempt in the slot.
    pub tag: u16,
}

struct Node {
    event: Event,
    next: u32,
}

/// All that is to happen, in the order of time and, within a millisecond, of posting.
pub struct Calendar {
    /// First and last node of each millisecond.
    buckets: Vec<(u32, u32)>,
    nodes: Vec<Node>,
    free: u32,
    now: Ms,
}

impl Calendar {
    /// Nothing happens at `horizon` or later.
    pub fn new(horizon: Ms) -> Self {
        let buckets = vec![(NONE, NONE); horizon as usize];
        Self { buckets, nodes: Vec::new(), free: NONE, now: 0 }
    }

    /// Posts an event; what is in the past happens now, what is beyond the horizon never.
    pub fn post(&mut self, at: Ms, event: Event) {
        let Some(bucket) = self.buckets.get_mut(at.max(self.now) as usize) else { return };
        let node = Node { event, next: NONE };
        let place = self.free;
        let place = if place == NONE {
            self.nodes.push(node);
            (self.nodes.len() - 1) as u32
        } else {
            self.free = self.nodes[place as usize].next;
            self.nodes[place as usize] = node;
            place
        };
        if bucket.0 == NONE {
            bucket.0 = place;
        } else {
            self.nodes[bucket.1 as usize].next = place;
        }
        bucket.1 = place;
    }

    /// Takes the next event.
    pub fn take(&mut self) -> Option<(Ms, Event)> {
        loop {
            let bucket = self.buckets.get_mut(self.now as usize)?;
            let place = bucket.0;
            if place == NONE {
                self.now += 1;
                continue;
            }
            let Node { event, next } = self.nodes[place as usize];
            bucket.0 = next;
            self.nodes[place as usize].next = self.free;
            self.free = place;
            return Some((self.now, event));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(viewer: u32) -> Event {
        Event { viewer, kind: Kind::Wake, slot: 0, tag: 0 }
    }

    #[test]
    fn events_come_by_time_and_then_in_the_order_of_posting() {
        let mut calendar = Calendar::new(10);
        for (at, viewer) in [(5, 1), (3, 2), (5, 3), (10, 4)] {
            calendar.post(at, event(viewer));
        }
        let mut taken = Vec::new();
        while let Some((at, event)) = calendar.take() {
            if event.viewer == 2 {
                calendar.post(1, super::tests::event(5));
            }
            taken.push((at, event.viewer));
        }
        assert_eq!(taken, [(3, 2), (3, 5), (5, 1), (5, 3)]);
    }
}

//! The decision log: a bounded ring of what happened and what was decided, for the person
//! who debugs playback.

use super::clock::Millis;
use super::request::RequestId;

/// What an entry tells. The codes are stable.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
#[repr(u8)]
pub enum LogEvent {
    /// A request began. `detail` is its site.
    Started = 0,
    /// An attempt was sent. `detail` 0: for all; 1: for all again, of which the delivered bytes
    /// are dropped; 2: for a part that begins with the byte `value`.
    Sent = 1,
    /// Headers of an accepted response. `detail` is the status, `value` the bytes that it follows.
    Accepted = 2,
    /// An attempt failed. `detail` is the class, `value` the status.
    Failed = 3,
    /// A wait began. `detail` is the wait's reason, `value` its length in ms.
    Waiting = 4,
    /// A silent body has used up half its bound. `value` is the bound in ms.
    StallSuspect = 5,
    /// The ladder is spent. `detail` is the reason, `value` the attempts.
    Exhausted = 6,
    /// The request was given up. `detail` is the reason, `value` the attempts.
    GivenUp = 7,
    /// The request succeeded. `detail` is 0, `value` the bytes.
    Succeeded = 8,
    /// The caller aborted.
    Aborted = 9,
    /// The browser says that the network is there (`detail` 1) or not (0).
    Network = 10,
    /// A wait was cut short. `detail` 0: by the caller; 1: the host answers again; 2: the
    /// network is back; 3: its turn came. `value` is how long it still is, in ms.
    Hurried = 11,
    /// A hook was asked. `detail` is the hook, `value` the number of the question.
    Asked = 12,
    /// A hook answered, or its time is over. `detail` 0: no opinion; 1: no; 2: yes; 3: after
    /// `value` ms.
    Answered = 13,
    /// A refresh of a credential was asked for. `detail` is the credential, `value` the number
    /// of the question.
    RefreshAsked = 14,
    /// It is over. `detail` is the credential, `value` 1 where it is renewed.
    Refreshed = 15,
    /// A breaker's health changed. `detail` is the health, `value` the host.
    Health = 16,
    /// A server asked for less. `detail` 0: for the session; 1: the host; 2: a prefix. `value`
    /// is how long nothing is sent, in ms.
    Throttled = 17,
    /// The directives of a playlist reload are given up (R33).
    Plain = 18,
    /// The connection is of another class, or the path is another. `detail` is the class, `value`
    /// the path's generation.
    Path = 19,
    /// A host gave advice. `detail` is the host, `value` how many requests may be under way.
    Advised = 20,
}

/// One entry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// When.
    pub at: Millis,
    /// Whose, 0 for the engine's own.
    pub request: RequestId,
    /// The attempt, from 1; 0 where none is meant.
    pub attempt: u32,
    /// What.
    pub event: LogEvent,
    /// See [`LogEvent`].
    pub detail: u32,
    /// See [`LogEvent`].
    pub value: f64,
}

/// The ring: grows to its capacity, then writes over its oldest entry.
#[derive(Clone, Debug)]
pub(super) struct Log {
    entries: Vec<Entry>,
    capacity: usize,
    oldest: usize,
}

impl Log {
    pub(super) const fn new(capacity: usize) -> Self {
        Self { entries: Vec::new(), capacity, oldest: 0 }
    }

    pub(super) fn push(&mut self, entry: Entry) {
        if self.entries.len() < self.capacity {
            self.entries.push(entry);
        } else if let Some(slot) = self.entries.get_mut(self.oldest) {
            *slot = entry;
            self.oldest = (self.oldest + 1) % self.capacity;
        }
    }

    /// Oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Entry> {
        let (newer, older) = self.entries.split_at(self.oldest);
        older.iter().chain(newer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(capacity: usize, pushed: u32) -> Vec<u32> {
        let mut log = Log::new(capacity);
        for attempt in 0..pushed {
            let (at, request, event) = (Millis::ZERO, RequestId(1), LogEvent::Sent);
            log.push(Entry { at, request, attempt, event, detail: 0, value: 0.0 });
        }
        log.iter().map(|entry| entry.attempt).collect()
    }

    #[test]
    fn keeps_the_newest_in_order() {
        assert_eq!(kept(3, 2), [0, 1]);
        assert_eq!(kept(3, 3), [0, 1, 2]);
        assert_eq!(kept(3, 8), [5, 6, 7]);
        assert_eq!(kept(0, 8), []);
    }
}

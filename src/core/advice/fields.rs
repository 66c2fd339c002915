//! The two fields that carry advice, by the grammar of structured fields (RFC 9651).

use std::convert::Infallible;

use sfv::visitor::{
    DictionaryVisitor, EntryVisitor, Ignored, InnerListVisitor, ItemVisitor, ListVisitor,
    ParameterVisitor,
};
use sfv::{BareItemFromInput, KeyRef, Parser};

use super::{Advice, Window, lower};
use crate::core::clock::Millis;

/// A longer field is ignored, in bytes.
const LONGEST: usize = 2048;
/// The lowest cap, in kbit/s: zero would read as none.
const LOWEST_CAP: f64 = 1.0;

/// A dictionary of our own.
pub(super) fn dictionary(field: &str) -> Option<Advice> {
    parser(field)?.parse_dictionary_with_visitor(Members::default()).ok()
}

/// `CMSD-Dynamic`: a list of hops.
pub(super) fn list(field: &str) -> Option<Advice> {
    parser(field)?.parse_list_with_visitor(Hops(Advice::default())).ok()
}

fn parser(field: &str) -> Option<Parser<'_>> {
    (field.len() <= LONGEST).then(|| Parser::new(field))
}

/// The values of a dictionary, or of a hop, as they are written.
#[derive(Default)]
struct Members {
    chunk: Option<f64>,
    sessions: Option<f64>,
    ranges: Option<f64>,
    ttl: Option<f64>,
    etp: Option<f64>,
    mb: Option<f64>,
    du: bool,
}

impl Members {
    /// Where a member of our own goes.
    fn own(&mut self, key: &[u8]) -> Option<&mut Option<f64>> {
        match key {
            b"chunk" => Some(&mut self.chunk),
            b"sessions" => Some(&mut self.sessions),
            b"ranges" => Some(&mut self.ranges),
            b"ttl" => Some(&mut self.ttl),
            _ => None,
        }
    }

    fn advice(&self) -> Advice {
        let cap = lower(self.etp, self.mb).map(|cap| cap.max(LOWEST_CAP) * 1_000.0);
        Advice {
            chunk: self.chunk.map(|value| Window::CHUNK.clamp(value)),
            sessions: self.sessions.map(|value| Window::SESSIONS.clamp(value) as u32),
            ranges: self.ranges.map(|value| Window::RANGES.clamp(value) as u32),
            ttl: self.ttl.map(|value| Millis::from_secs(Window::TTL.clamp(value))),
            abr_cap: cap,
            duress: self.du,
        }
    }
}

impl<'de> DictionaryVisitor<'de> for Members {
    type Out = Advice;
    type Error = Infallible;

    fn entry(&mut self, key: &'de KeyRef) -> Result<impl EntryVisitor<'de>, Infallible> {
        let mut member = self.own(key.as_str().as_bytes());
        // Of duplicates the last counts, even if it has the wrong type.
        if let Some(member) = &mut member {
            **member = None;
        }
        Ok(Member(member))
    }

    fn finish(self) -> Result<Advice, Infallible> {
        Ok(self.advice())
    }
}

/// One member of the dictionary, where it is known.
struct Member<'a>(Option<&'a mut Option<f64>>);

impl<'de> EntryVisitor<'de> for Member<'_> {
    type Error = Infallible;

    fn item(self) -> Result<impl ItemVisitor<'de>, Infallible> {
        Ok(move |value: BareItemFromInput<'de>| {
            if let Some(member) = self.0 {
                *member = integer(&value);
            }
            Ok::<_, Infallible>(Ignored)
        })
    }

    fn inner_list(self) -> Result<impl InnerListVisitor<'de>, Infallible> {
        Ok(Ignored)
    }
}

/// The list, and what its hops have advised so far.
struct Hops(Advice);

impl<'de> ListVisitor<'de> for Hops {
    type Out = Advice;
    type Error = Infallible;

    fn entry(&mut self) -> Result<impl EntryVisitor<'de>, Infallible> {
        Ok(Hop { advice: &mut self.0, members: Members::default() })
    }

    fn finish(self) -> Result<Advice, Infallible> {
        Ok(self.0)
    }
}

/// One hop: an item that names it, and its parameters.
struct Hop<'a> {
    advice: &'a mut Advice,
    members: Members,
}

impl<'de> EntryVisitor<'de> for Hop<'_> {
    type Error = Infallible;

    fn item(self) -> Result<impl ItemVisitor<'de>, Infallible> {
        Ok(move |_: BareItemFromInput<'de>| Ok::<_, Infallible>(self))
    }

    fn inner_list(self) -> Result<impl InnerListVisitor<'de>, Infallible> {
        Ok(Ignored)
    }
}

impl<'de> ParameterVisitor<'de> for Hop<'_> {
    type Out = ();
    type Error = Infallible;

    fn parameter(
        &mut self,
        key: &'de KeyRef,
        value: BareItemFromInput<'de>,
    ) -> Result<(), Infallible> {
        match key.as_str().as_bytes() {
            b"du" => self.members.du = is_true(&value),
            b"etp" => self.members.etp = integer(&value),
            b"mb" => self.members.mb = integer(&value),
            key => {
                // A key of a vendor's begins with a name and a hyphen.
                let hyphen = key.iter().rposition(|byte| *byte == b'-');
                let own = hyphen.and_then(|hyphen| self.members.own(&key[hyphen + 1..]));
                if let Some(member) = own {
                    *member = integer(&value);
                }
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<(), Infallible> {
        *self.advice = self.advice.merge(self.members.advice());
        Ok(())
    }
}

fn integer(value: &BareItemFromInput<'_>) -> Option<f64> {
    let BareItemFromInput::Integer(value) = *value else { return None };
    // At most 15 digits, so that nothing is rounded.
    Some(i64::from(value) as f64)
}

/// As a bare key, which is the standard's form, and as others write it.
fn is_true(value: &BareItemFromInput<'_>) -> bool {
    match value {
        BareItemFromInput::Boolean(value) => *value,
        BareItemFromInput::Token(value) => value.as_str() == "true",
        value => integer(value) == Some(1.0),
    }
}

//! What goes into the engine.

use crate::core::clock::Millis;
use crate::core::request::{Delivery, Marks, RequestId};
use crate::core::resume::{Representation, Wanted};
use crate::core::retry::Alternatives;
use crate::core::site::Site;

/// What a caller asks for.
#[derive(Clone, Copy, Debug)]
pub struct StartRequest {
    /// The request's name. Names ascend.
    pub id: RequestId,
    /// The site.
    pub site: Site,
    /// The host, as a number that the caller gives to each.
    pub host: u32,
    /// When bytes reach the caller.
    pub delivery: Delivery,
    /// Whether it is safe to send twice.
    pub idempotent: bool,
    /// Whether a success has a body.
    pub expects_body: bool,
    /// Whether the server may hold the answer back (blocking playlist reload).
    pub blocking: bool,
    /// What was declared for this URL; the site's own declaration counts where unknown.
    pub alternatives: Alternatives,
    /// What else is known of it.
    pub marks: Marks,
    /// The bytes that are asked for.
    pub wanted: Wanted,
}

/// The head of a response, as facts.
#[derive(Clone, Copy, Debug)]
pub struct ResponseFacts {
    /// The status; 0 for a response of type `opaque` or `opaqueredirect`.
    pub status: u16,
    /// What its body is made from.
    pub representation: Representation,
    /// `Retry-After`, where it can be read and is in the grammar.
    pub retry_after: Option<Millis>,
    /// What the rate-limit detector says of a refusal, if it says something (R44).
    pub limited: Option<Limited>,
    /// What the refusal says of the credential.
    pub expiry: Expiry,
}

impl ResponseFacts {
    /// A response of which nothing else is known.
    pub const fn of(status: u16) -> Self {
        Self {
            status,
            representation: Representation::UNKNOWN,
            retry_after: None,
            limited: None,
            expiry: Expiry::Unknown,
        }
    }
}

/// What a rate limit is about.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub enum Scope {
    /// All that the engine sends.
    Session = 0,
    /// The host of the request.
    Host = 1,
    /// The URL prefix of the request ([`Marks::prefix`]).
    Prefix = 2,
}

/// A rate limit that the detector has recognized.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limited {
    /// What it is about.
    pub scope: Scope,
    /// How long nothing is to be sent, where that is known.
    pub wait: Option<Millis>,
}

/// What a refusal says of the credential.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[repr(u8)]
pub enum Expiry {
    /// Nothing.
    #[default]
    Unknown = 0,
    /// It has expired.
    Expired = 1,
    /// A fresh one would not help: a limit of streams, a region, a right that is not there.
    Denied = 2,
}

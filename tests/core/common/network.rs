//! The mail of the network: facts that arrive at their times.

use std::collections::BTreeMap;

use holdfast::core::{Answer as Opinion, Ask, RequestId, ResponseFacts, Wanted};

use super::World;
use super::answer::{Answer, Part};

pub(crate) enum Fact {
    Chunk(RequestId, u32, f64, bool),
    Deed(Box<dyn FnOnce(&mut World)>),
    Opinion(RequestId, u32, Opinion),
    Refreshed(u32, u32, bool),
    End(RequestId, u32),
    Lost(RequestId, u32),
    Page(RequestId, u32),
    Reading(RequestId, u32),
    Rejected(RequestId, u32),
    Response(RequestId, u32, ResponseFacts),
}

impl Fact {
    const fn attempt(&self) -> Option<(RequestId, u32)> {
        match self {
            Self::Deed(_) | Self::Opinion(..) | Self::Refreshed(..) => None,
            Self::Chunk(id, attempt, ..)
            | Self::End(id, attempt)
            | Self::Lost(id, attempt)
            | Self::Page(id, attempt)
            | Self::Reading(id, attempt)
            | Self::Rejected(id, attempt)
            | Self::Response(id, attempt, _) => Some((*id, *attempt)),
        }
    }
}

#[derive(Default)]
pub(crate) struct Network {
    pub(crate) leftovers: bool,
    /// Host, from, until, and what is met meanwhile.
    pub(crate) outages: Vec<(u32, f64, f64, Answer)>,
    /// By host, what its attempts meet one after the other, whoever sends them.
    pub(crate) tapes: BTreeMap<u32, Vec<Answer>>,
    /// By time, and in the order of posting at the same time.
    mail: Vec<(f64, Fact)>,
    scripts: BTreeMap<u32, (u32, Wanted, Vec<Answer>)>,
}

impl Network {
    pub(crate) fn script(&mut self, id: u32, host: u32, wanted: Wanted, answers: Vec<Answer>) {
        self.scripts.insert(id, (host, wanted, answers));
    }

    pub(crate) fn post(&mut self, at: f64, fact: Fact) {
        let place = self.mail.partition_point(|(other, _)| *other <= at);
        self.mail.insert(place, (at, fact));
    }

    pub(crate) fn next_at(&self) -> f64 {
        self.mail.first().map_or(f64::INFINITY, |(at, _)| *at)
    }

    pub(crate) fn take(&mut self) -> Option<Fact> {
        (!self.mail.is_empty()).then(|| self.mail.remove(0).1)
    }

    pub(crate) fn cut(&mut self, request: RequestId, attempt: u32) {
        if !self.leftovers {
            self.mail.retain(|(_, fact)| fact.attempt() != Some((request, attempt)));
        }
    }

    pub(crate) fn forget(&mut self, request: RequestId) {
        if !self.leftovers {
            self.mail.retain(|(_, fact)| fact.attempt().is_none_or(|(of, _)| of != request));
        }
    }

    pub(crate) fn send(&mut self, request: RequestId, attempt: u32, ask: Ask, now: f64) {
        let wanted = self.scripts[&request.0].1;
        match self.answer(request.0, attempt, now).to(ask, &wanted) {
            Answer::Origin { .. } => unreachable!("it is a script by now"),
            Answer::Hang => {}
            Answer::Reject { after } => self.post(now + after, Fact::Rejected(request, attempt)),
            Answer::Head { after, facts, parts } => {
                let mut at = now + after;
                self.post(at, Fact::Response(request, attempt, facts));
                self.post(at, Fact::Reading(request, attempt));
                for part in parts {
                    let (gap, fact) = match part {
                        Part::Chunk { gap, bytes } => {
                            (gap, Fact::Chunk(request, attempt, bytes, true))
                        }
                        Part::LastRead { gap, bytes } => {
                            (gap, Fact::Chunk(request, attempt, bytes, false))
                        }
                        Part::Read { gap } => (gap, Fact::Reading(request, attempt)),
                        Part::End { gap } => (gap, Fact::End(request, attempt)),
                        Part::Lost { gap } => (gap, Fact::Lost(request, attempt)),
                        Part::Page { gap } => (gap, Fact::Page(request, attempt)),
                    };
                    at += gap;
                    self.post(at, fact);
                }
            }
        }
    }

    fn answer(&mut self, id: u32, attempt: u32, now: f64) -> Answer {
        let (host, _, answers) = &self.scripts[&id];
        let struck = |(of, from, to, _): &&(u32, f64, f64, Answer)| {
            of == host && (*from..*to).contains(&now)
        };
        if let Some((.., answer)) = self.outages.iter().find(struck) {
            return answer.clone();
        }
        if let Some(tape) = self.tapes.get_mut(host) {
            return if tape.len() > 1 { tape.remove(0) } else { tape[0].clone() };
        }
        answers[(attempt as usize - 1).min(answers.len() - 1)].clone()
    }
}

//! The shorthand in which field reports are written: what the attempts of a request meet, one after
//! the other, and what happens meanwhile.
//!
//! | entry | is |
//! | --- | --- |
//! | `503{Retry-After:5}` | a status, with headers where some matter; `;` separates them |
//! | `201(n)` | a status with `n` bytes |
//! | `ok`, `ok(n)`, `ok(n)@t` | a 200 with `n` bytes in 50 ms, or headers and body in `t` ms each |
//! | `net`, `hang` | a rejection; no headers, ever |
//! | `hang@k`, `cut@k` | `k` bytes, and then silence; and then the stream breaks |
//! | `drip(r,n)` | `n` bytes at `r` bytes a second |
//! | `abort@t`, `offline@t`, `online@t` | what happens at `t` ms |
//! | `503..t` | the host answers with it until `t` ms, whoever asks |
//! | `503 x3` | three times |
//! | `503*` | for ever; so does the last entry anyway |
//!
//! `host=B` before the entries names another host than A.

use std::time::UNIX_EPOCH;

use holdfast::core::Site;

use super::answer::{Answer, Part, hang, reject, silent, status, truncated};
use super::ask::{Ask, ask};
use super::{Verdict, World};

/// Bytes that drip come so often, in ms.
const DROP: f64 = 250.0;

/// What a script says.
#[derive(Default)]
struct Script {
    host: u32,
    answers: Vec<Answer>,
    /// Until when the host answers with what, one after the other.
    spans: Vec<(f64, Answer)>,
    deeds: Vec<(f64, Deed)>,
}

#[derive(Clone, Copy)]
enum Deed {
    Abort,
    Online(bool),
}

/// A world and the request that the script is about.
pub(crate) struct Play {
    pub(crate) world: World,
    pub(crate) id: u32,
}

/// Plays a script to its end: a segment, with nothing said of its alternatives.
pub(crate) fn play(text: &str) -> Play {
    play_at(Site::Segment, text)
}

/// The same for another site.
pub(crate) fn play_at(site: Site, text: &str) -> Play {
    let mut world = World::new();
    let id = world.scripted(ask(site), text);
    world.drive_until_idle();
    Play { world, id }
}

impl Play {
    /// When its attempts were sent.
    pub(crate) fn sent(&self) -> Vec<f64> {
        self.world.sent_at(self.id)
    }

    /// How many attempts there were.
    pub(crate) fn calls(&self) -> usize {
        self.sent().len()
    }

    pub(crate) fn finished(&self) -> bool {
        matches!(self.world.verdict(self.id), Some((_, Verdict::Finished)))
    }
}

impl World {
    /// Starts a request that meets what the script says, now.
    pub(crate) fn scripted(&mut self, ask: Ask, text: &str) -> u32 {
        let script = parse(text);
        let mut from = self.now;
        for (until, answer) in script.spans {
            self.outage(script.host, from, self.now + until, answer);
            from = self.now + until;
        }
        for (at, deed) in &script.deeds {
            if let (0.0, Deed::Online(online)) = (*at, *deed) {
                self.online(online);
            }
        }
        let ask = ask.host(script.host);
        let start = self.now;
        let id =
            self.start(if script.answers.is_empty() { ask } else { ask.answers(script.answers) });
        for (at, deed) in script.deeds {
            match deed {
                Deed::Abort => self.at(start + at, move |world| world.abort(id)),
                Deed::Online(online) => self.at(start + at, move |world| world.online(online)),
            }
        }
        id
    }

    /// Whatever is sent to the script's host meets what it says.
    pub(crate) fn taped(&mut self, text: &str) {
        let script = parse(text);
        self.tape(script.host, script.answers);
    }
}

fn parse(text: &str) -> Script {
    let mut script = Script::default();
    let mut text = text.trim();
    if let Some(rest) = text.strip_prefix("host=") {
        let name = rest.bytes().next().expect("a name");
        script.host = u32::from(name - b'A');
        text = rest[1..].trim();
    }
    for entry in split(text) {
        let entry = entry.trim().trim_end_matches('*');
        if let Some((what, at)) = entry.split_once('@')
            && let Some(deed) = deed(what)
        {
            script.deeds.push((number(at), deed));
        } else if let Some((what, until)) = entry.split_once("..") {
            script.spans.push((number(until), answer(what)));
        } else {
            let (what, times) = entry.rsplit_once(" x").unwrap_or((entry, "1"));
            let times = number(times) as usize;
            script.answers.extend(std::iter::repeat_n(answer(what), times));
        }
    }
    script
}

/// The entries: a comma within brackets separates nothing.
fn split(text: &str) -> Vec<&str> {
    let mut depth = 0;
    let between = |letter: char| {
        match letter {
            '(' | '{' => depth += 1,
            ')' | '}' => depth -= 1,
            _ => {}
        }
        letter == ',' && depth == 0
    };
    text.split(between).filter(|entry| !entry.is_empty()).collect()
}

fn deed(name: &str) -> Option<Deed> {
    match name {
        "abort" => Some(Deed::Abort),
        "offline" => Some(Deed::Online(false)),
        "online" => Some(Deed::Online(true)),
        _ => None,
    }
}

fn answer(entry: &str) -> Answer {
    let (entry, at) = entry.split_once('@').map_or((entry, None), |(what, at)| (what, Some(at)));
    let at = at.map(number);
    let (name, values) = entry
        .strip_suffix(')')
        .and_then(|call| call.split_once('('))
        .map_or((entry, Vec::new()), |(name, values)| {
            (name, values.split(',').map(number).collect())
        });
    match (name, values.as_slice(), at) {
        ("ok", [], None) => body(100_000.0, None),
        ("ok", [bytes], span) => body(*bytes, span),
        ("net", [], None) => reject(),
        ("hang", [], None) => hang(),
        ("hang", [], Some(bytes)) => silent(bytes),
        ("cut", [], Some(bytes)) => truncated(bytes),
        ("drip", [rate, bytes], None) => drip(*rate, *bytes),
        (refusal, [], None) => refused(refusal),
        (other, [bytes], None) => {
            let parts = [Part::Chunk { gap: 50.0, bytes: *bytes }, Part::End { gap: 0.0 }];
            refused(other).parts(parts)
        }
        _ => panic!("{entry} is no entry"),
    }
}

fn body(bytes: f64, span: Option<f64>) -> Answer {
    let gap = span.unwrap_or(50.0);
    let parts = [Part::Chunk { gap, bytes }, Part::End { gap: 0.0 }];
    status(200).after(span.unwrap_or(20.0)).parts(parts)
}

fn drip(rate: f64, bytes: f64) -> Answer {
    let drops = (bytes / rate * 1_000.0 / DROP).ceil();
    let drop = Part::Chunk { gap: DROP, bytes: bytes / drops };
    let mut parts = vec![drop; drops as usize];
    parts.push(Part::End { gap: 0.0 });
    status(200).parts(parts)
}

fn refused(entry: &str) -> Answer {
    let (code, headers) = entry.split_once('{').unwrap_or((entry, ""));
    let header = |wanted: &str| {
        let all = headers.trim_end_matches('}').split(';');
        let mut fields = all.filter_map(|header| header.split_once(':'));
        fields.find(|(name, _)| *name == wanted).map(|(_, value)| value.trim())
    };
    let answer = status(code.parse().unwrap_or_else(|_| panic!("{entry} is no entry")));
    let Some(wait) = header("Retry-After") else { return answer };
    // Seconds, or a date that counts from `Date`.
    answer.retry_after(match header("Date") {
        Some(date) => instant(wait) - instant(date),
        None => 1_000.0 * number(wait),
    })
}

/// An HTTP-date in milliseconds since 1970.
fn instant(date: &str) -> f64 {
    let at = httpdate::parse_http_date(date).unwrap_or_else(|_| panic!("{date} is no date"));
    1_000.0 * at.duration_since(UNIX_EPOCH).expect("a date since 1970").as_secs_f64()
}

fn number(text: &str) -> f64 {
    text.trim().parse().unwrap_or_else(|_| panic!("{text} is no number"))
}

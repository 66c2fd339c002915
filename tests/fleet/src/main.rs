//! Runs parts of the fleet benchmark and prints a row of JSON for each result.
//!
//! `holdfast-fleet [--seed n] [--smoke] [--policy name]... [--viewers n] part...`; what the parts are
//! stands in `tests/bench/fleet.mjs`.

#![allow(clippy::disallowed_methods, reason = "runs are timed; their own time is virtual")]

mod calendar;
mod client;
mod grid;
mod memory;
mod metrics;
mod origin;
mod parts;
mod policy;
mod references;
mod row;
mod scenario;
mod sim;
mod viewer;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut options = parts::Options::default();
    let mut named = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--smoke" => options.smoke = true,
            "--seed" | "--viewers" => {
                let Some(number) = arguments.next().and_then(|text| text.parse().ok()) else {
                    eprintln!("{argument} is a whole number");
                    return ExitCode::FAILURE;
                };
                if argument == "--seed" {
                    options.seed = u64::from(number);
                } else {
                    options.viewers = Some(number);
                }
            }
            "--policy" => options.policies.extend(arguments.next()),
            _ => named.push(argument),
        }
    }
    for part in named {
        let Some((_, run)) = parts::PARTS.iter().find(|(name, _)| *name == part) else {
            let known: Vec<_> = parts::PARTS.iter().map(|(name, _)| *name).collect();
            eprintln!("{part} is no part; there are {}", known.join(", "));
            return ExitCode::FAILURE;
        };
        run(&options);
    }
    ExitCode::SUCCESS
}

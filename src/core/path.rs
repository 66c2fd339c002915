//! The path to the network: what is known of it, its class, and what it allows (R83 to R87).
//!
//! A sample says what the browser and the embedder know; whatever nobody knows is `Unknown`, and
//! an unknown value holds nothing back. The class and the plan are functions of their inputs alone;
//! how the link behaves comes in through the [`AdverseDetector`].

mod adverse;
mod plan;

use super::clock::Millis;

pub use adverse::AdverseDetector;
pub use plan::{Allowed, Plan, PlanInputs, plan};

/// What data costs. The codes are stable, as are those of the enums below.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[repr(u8)]
pub enum Cost {
    /// Nobody says.
    #[default]
    Unknown = 0,
    /// Nothing worth saving.
    Unmetered = 1,
    /// Money, or a quota.
    Metered = 2,
    /// The user asked to save data.
    Constrained = 3,
}

impl Cost {
    /// All costs, in the order of their codes.
    pub const ALL: [Self; 4] = [Self::Unknown, Self::Unmetered, Self::Metered, Self::Constrained];

    /// The cost with this code, or `Unknown`.
    pub fn from_code(code: u32) -> Self {
        Self::ALL.get(code as usize).copied().unwrap_or_default()
    }
}

/// Whether there is a way to the network.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[repr(u8)]
pub enum Reachability {
    /// Nobody says.
    #[default]
    Unknown = 0,
    /// There is none.
    None = 1,
    /// There is one.
    Reachable = 2,
}

impl Reachability {
    /// All of them, in the order of their codes.
    pub const ALL: [Self; 3] = [Self::Unknown, Self::None, Self::Reachable];

    /// The reachability with this code, or `Unknown`.
    pub fn from_code(code: u32) -> Self {
        Self::ALL.get(code as usize).copied().unwrap_or_default()
    }
}

/// What the device is connected by.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[repr(u8)]
pub enum Interface {
    /// Nobody says.
    #[default]
    Unknown = 0,
    /// A cable.
    Wired = 1,
    /// Wi-Fi.
    Wifi = 2,
    /// A mobile network.
    Cellular = 3,
    /// Something else.
    Other = 4,
}

impl Interface {
    /// All interfaces, in the order of their codes.
    pub const ALL: [Self; 5] =
        [Self::Unknown, Self::Wired, Self::Wifi, Self::Cellular, Self::Other];

    /// The interface with this code, or `Unknown`.
    pub fn from_code(code: u32) -> Self {
        Self::ALL.get(code as usize).copied().unwrap_or_default()
    }
}

/// What the device is powered by.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[repr(u8)]
pub enum Power {
    /// Nobody says.
    #[default]
    Unknown = 0,
    /// The mains.
    External = 1,
    /// A battery with enough left.
    Battery = 2,
    /// The device saves power.
    LowPower = 3,
}

impl Power {
    /// All of them, in the order of their codes.
    pub const ALL: [Self; 4] = [Self::Unknown, Self::External, Self::Battery, Self::LowPower];

    /// The power with this code, or `Unknown`.
    pub fn from_code(code: u32) -> Self {
        Self::ALL.get(code as usize).copied().unwrap_or_default()
    }
}

/// How hot the device is.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[repr(u8)]
pub enum Thermal {
    /// Nobody says.
    #[default]
    Unknown = 0,
    /// Cool.
    Nominal = 1,
    /// Warm, which holds nothing back.
    Fair = 2,
    /// Hot: less must be done.
    Serious = 3,
    /// Too hot: nothing may be done.
    Critical = 4,
}

impl Thermal {
    /// All of them, in the order of their codes.
    pub const ALL: [Self; 5] =
        [Self::Unknown, Self::Nominal, Self::Fair, Self::Serious, Self::Critical];

    /// The thermal state with this code, or `Unknown`.
    pub fn from_code(code: u32) -> Self {
        Self::ALL.get(code as usize).copied().unwrap_or_default()
    }
}

/// One sample of the path. The default knows nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PathSample {
    /// What data costs.
    pub cost: Cost,
    /// Whether there is a way to the network.
    pub reachability: Reachability,
    /// What the device is connected by.
    pub interface: Interface,
    /// What the device is powered by.
    pub power: Power,
    /// How hot the device is.
    pub thermal: Thermal,
    /// Until when work may go on in the background; `None` in the foreground, or where nobody says.
    pub background_until: Option<Millis>,
}

impl PathSample {
    /// What is left of the time in the background.
    pub fn background_left(&self, now: Millis) -> Option<Millis> {
        self.background_until.map(|until| until - now)
    }

    /// When the last minute in the background has begun, and with it another plan.
    pub fn last_minute_at(&self) -> Option<Millis> {
        // A plan asks for less than a minute.
        self.background_until.map(|until| until - (LAST_MINUTE - Millis::new(1.0)))
    }
}

/// The path by its last sample. Power, heat and execution change the plan, never the path.
#[derive(Clone, Copy, Debug, Default)]
pub struct Path {
    sample: PathSample,
    generation: u32,
}

impl Path {
    /// A new sample. Says whether a new generation began: reachability, interface or cost changed,
    /// and what was learnt of the old path says nothing of the new one (R85).
    pub fn handle_sample(&mut self, sample: PathSample) -> bool {
        let old = self.sample;
        self.sample = sample;
        let moved = old.reachability != sample.reachability
            || old.interface != sample.interface
            || old.cost != sample.cost;
        if moved {
            self.generation = self.generation.wrapping_add(1);
        }
        moved
    }

    /// The last sample.
    pub const fn sample(&self) -> &PathSample {
        &self.sample
    }

    /// The number of the path, from 0.
    pub const fn generation(&self) -> u32 {
        self.generation
    }
}

/// What kind of connection there is. The codes are stable.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub enum ConnectionClass {
    /// Nothing is known against fetching ahead.
    Unmetered = 0,
    /// Data costs something.
    Metered = 1,
    /// The user asked to save data.
    Constrained = 2,
    /// Connected, but connections break or fall silent.
    Adverse = 3,
    /// No way to the network.
    Offline = 4,
}

/// The class of a connection; of several that fit, the last in the enum's order (R83).
///
/// `online` is the browser's own word: a no is believed, a yes proves nothing. A mobile network
/// counts as metered unless the sample says otherwise, which is a heuristic.
pub const fn class(sample: &PathSample, online: bool, adverse: bool) -> ConnectionClass {
    if !online || matches!(sample.reachability, Reachability::None) {
        return ConnectionClass::Offline;
    }
    if adverse {
        return ConnectionClass::Adverse;
    }
    match (sample.cost, sample.interface) {
        (Cost::Constrained, _) => ConnectionClass::Constrained,
        (Cost::Metered, _) | (Cost::Unknown, Interface::Cellular) => ConnectionClass::Metered,
        (Cost::Unmetered | Cost::Unknown, _) => ConnectionClass::Unmetered,
    }
}

/// With less than this left in the background, nothing is fetched ahead.
const LAST_MINUTE: Millis = Millis::new(60_000.0);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_positions_and_unknown_ones_are_unknown() {
        for code in 0..4 {
            assert_eq!(Cost::from_code(code) as u32, code);
            assert_eq!(Power::from_code(code) as u32, code);
        }
        for code in 0..5 {
            assert_eq!(Interface::from_code(code) as u32, code);
            assert_eq!(Thermal::from_code(code) as u32, code);
        }
        for code in 0..3 {
            assert_eq!(Reachability::from_code(code) as u32, code);
        }
        for code in [5, 6, 255, 256, u32::MAX] {
            assert_eq!(Cost::from_code(code), Cost::Unknown);
            assert_eq!(Reachability::from_code(code), Reachability::Unknown);
            assert_eq!(Interface::from_code(code), Interface::Unknown);
            assert_eq!(Power::from_code(code), Power::Unknown);
            assert_eq!(Thermal::from_code(code), Thermal::Unknown);
        }
        assert_eq!((Cost::from_code(4), Power::from_code(4)), (Cost::Unknown, Power::Unknown));
        assert_eq!(Reachability::from_code(3), Reachability::Unknown);
    }
}

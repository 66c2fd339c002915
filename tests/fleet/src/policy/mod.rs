//! The policies that are compared.

pub mod budgets;
pub mod libraries;
#[cfg(test)]
mod logs;
pub mod ours;
pub mod peer;
pub mod players;

//! Rows of results, as JSON.

use std::fmt::Write;

/// A row under construction.
pub struct Row(String);

impl Row {
    /// A row of one part.
    pub fn new(part: &str) -> Self {
        Self(String::from("{")).text("part", part)
    }

    /// A field with a text, which needs no escaping here.
    pub fn text(mut self, name: &str, value: &str) -> Self {
        let _ = write!(self.0, "\"{name}\":\"{value}\",");
        self
    }

    /// A field with a number; `null` where there is none.
    pub fn number(mut self, name: &str, value: impl Into<Option<f64>>) -> Self {
        let value = value.into().filter(|value| value.is_finite());
        match value {
            // Four digits after the point are more than any of them means.
            Some(value) => {
                let rounded = (value * 1e4).round() / 1e4;
                let _ = write!(self.0, "\"{name}\":{rounded},");
            }
            None => {
                let _ = write!(self.0, "\"{name}\":null,");
            }
        }
        self
    }

    /// A field with several numbers.
    pub fn numbers(mut self, name: &str, values: impl Iterator<Item = f64>) -> Self {
        let values: Vec<String> =
            values.map(|value| ((value * 1e3).round() / 1e3).to_string()).collect();
        let _ = write!(self.0, "\"{name}\":[{}],", values.join(","));
        self
    }

    /// A field that says yes or no.
    pub fn flag(mut self, name: &str, value: bool) -> Self {
        let _ = write!(self.0, "\"{name}\":{value},");
        self
    }

    /// Prints it.
    pub fn print(mut self) {
        self.0.pop();
        println!("{}}}", self.0);
    }
}

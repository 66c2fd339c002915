//! HTTP-dates in their three forms (RFC 9110 section 5.6.7).
//!
//! A form is a template that is walked next to the value, one byte of each at a time. That
//! keeps all three in one loop: the module is downloaded by every viewer, and dates are rare.

/// What follows the name of the day, for each form. Lower case letters are the digits of a
/// field, except `n`, the letters of the month; `_` is a digit of the day or a blank; the rest
/// stands for itself.
const FIXDATE: &[u8] = b", dd nnn yyyy hh:mm:ss GMT";
const RFC_850: &[u8] = b", dd-nnn-yy hh:mm:ss GMT";
const ASCTIME: &[u8] = b" nnn _d hh:mm:ss yyyy";

/// The days of the week, without the `day` that all of them end in, from that of the first
/// day of year 1.
const DAYS: [&[u8]; 7] = [b"Mon", b"Tues", b"Wednes", b"Thurs", b"Fri", b"Satur", b"Sun"];

/// The months and their days, leap years apart.
const MONTHS: [(u32, u32); 12] = [
    (letters(*b"Jan"), 31),
    (letters(*b"Feb"), 28),
    (letters(*b"Mar"), 31),
    (letters(*b"Apr"), 30),
    (letters(*b"May"), 31),
    (letters(*b"Jun"), 30),
    (letters(*b"Jul"), 31),
    (letters(*b"Aug"), 31),
    (letters(*b"Sep"), 30),
    (letters(*b"Oct"), 31),
    (letters(*b"Nov"), 30),
    (letters(*b"Dec"), 31),
];

/// The days before 1970, as `days_before` counts them.
const EPOCH: f64 = days_before(1970) as f64;

/// An HTTP-date in milliseconds since 1970, below zero before then, or `None` where the value
/// is not one. A leap second is the second after the one before it, in any minute.
pub(super) fn parse(value: &str) -> Option<f64> {
    let value = value.trim_ascii().as_bytes();
    let end = value.iter().position(|byte| matches!(byte, b',' | b' '))?;
    let (name, rest) = value.split_at_checked(end)?;
    // Only the form of RFC 850 writes the name out.
    let stem = name.strip_suffix(b"day");
    let template = match stem {
        Some(_) => RFC_850,
        None if rest.first() == Some(&b' ') => ASCTIME,
        None => FIXDATE,
    };
    let fields = walk(template, rest)?;
    let field = |code: u8| fields[place(code)];

    let (hour, minute, second) = (field(b'h'), field(b'm'), field(b's'));
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let mut year = field(b'y');
    if stem.is_some() {
        // More than 50 years ahead would mean the past. From 2020 on no year before 2070 is,
        // and an old one is likelier than one so far ahead.
        year += if year < 70 { 2000 } else { 1900 };
    }

    let days = days_before(year) + day_of_year(year, field(b'n'), field(b'd'))?;
    let expected = DAYS[(days % 7) as usize];
    let agrees = match stem {
        Some(stem) => stem == expected,
        None => name.len() == 3 && expected.starts_with(name),
    };
    let clock = (hour * 60 + minute) * 60 + second;
    let since = f64::from(days) - EPOCH;
    agrees.then(|| (since * 86_400.0 + f64::from(clock)) * 1000.0)
}

/// What the template finds in the value: a field for each letter of the alphabet.
fn walk(template: &[u8], value: &[u8]) -> Option<[u32; 32]> {
    let mut fields = [0; 32];
    if template.len() != value.len() {
        return None;
    }
    for (&code, &byte) in template.iter().zip(value) {
        let code = match code {
            b'_' if byte == b' ' => continue,
            b'_' => b'd',
            code => code,
        };
        let field = &mut fields[place(code)];
        if code == b'n' {
            *field = *field << 8 | u32::from(byte);
        } else if !code.is_ascii_lowercase() {
            if byte != code {
                return None;
            }
        } else if byte.is_ascii_digit() {
            *field = *field * 10 + u32::from(byte - b'0');
        } else {
            return None;
        }
    }
    Some(fields)
}

/// The place of a field. The mask keeps it within the bounds, and says so to the compiler.
const fn place(code: u8) -> usize {
    (code & 31) as usize
}

/// Days before a year, counted from 400 years before year 1, which began on the same day of
/// the week. Nothing is negative that way.
const fn days_before(year: u32) -> u32 {
    let last = year + 399;
    last * 365 + last / 4 - last / 100 + last / 400
}

/// Days of the year before this one, or `None` where the month has no such day.
fn day_of_year(year: u32, month: u32, day: u32) -> Option<u32> {
    let leap = year.is_multiple_of(if year.is_multiple_of(100) { 400 } else { 4 });
    let mut before = 0;
    for &(name, length) in &MONTHS {
        let length = length + u32::from(leap && length == 28);
        if name == month {
            return (1..=length).contains(&day).then(|| before + day - 1);
        }
        before += length;
    }
    None
}

/// The letters of a month as `walk` collects them.
const fn letters([a, b, c]: [u8; 3]) -> u32 {
    u32::from_be_bytes([0, a, b, c])
}

//! Whether a response fits to what was delivered, by itself: every row of the table of responses
//! (R20, R21).

use fastrand::Rng;
use holdfast::core::{Ask, Coding, ContentRange, Fit, Misfit, Representation, Wanted, fit};

const SIZE: f64 = 1_000.0;

/// A whole file of [`SIZE`] bytes that shows all that it is.
const FILE: Representation = Representation {
    range: ContentRange::Unknown,
    length: Some(SIZE),
    etag: Some(1.0),
    weak: false,
    modified: Some(7.0),
    source: 3.0,
    coding: Coding::Identity,
    open: true,
};

/// A file whose every field that CORS hides is hidden.
const VEILED: Representation =
    Representation { etag: None, coding: Coding::Hidden, open: false, ..FILE };

/// A part of it.
fn part(first: f64, last: f64) -> Representation {
    let range = ContentRange::Part { first, last, total: Some(SIZE) };
    Representation { range, length: Some(last - first + 1.0), ..FILE }
}

/// A part whose place is hidden; who asks for one is not given it encoded.
fn hidden(length: f64) -> Representation {
    Representation { length: Some(length), coding: Coding::Identity, ..VEILED }
}

fn taken(skip: f64, take: f64, whole: f64) -> Result<Fit, Misfit> {
    Ok(Fit { skip, take, whole: Some(whole) })
}

/// What becomes of an answer to a request for the last 600 bytes, when there are 400 of `known`.
fn on(known: &Representation, status: u16, new: &Representation) -> Result<Fit, Misfit> {
    fit(Ask::Part(400.0, 999.0), &Wanted::default(), 400.0, Some(known), status, new, false)
}

/// The same to a repetition of the caller's own request.
fn again(known: &Representation, status: u16, new: &Representation) -> Result<Fit, Misfit> {
    fit(Ask::Again, &Wanted::default(), 400.0, Some(known), status, new, false)
}

/// What becomes of an answer to what the caller asked for, when there is nothing.
fn first(wanted: &Wanted, status: u16, new: &Representation) -> Result<Fit, Misfit> {
    fit(Ask::All, wanted, 0.0, None, status, new, false)
}

fn window(first: f64, last: f64) -> Wanted {
    Wanted { first, last, ranged: true, ..Wanted::default() }
}

#[test]
fn r20_the_missing_part_is_taken_as_it_is() {
    assert_eq!(on(&FILE, 206, &part(400.0, 999.0)), taken(0.0, 600.0, SIZE));
}

#[test]
fn r20_of_a_part_that_begins_earlier_the_first_bytes_are_dropped() {
    assert_eq!(on(&FILE, 206, &part(399.0, 999.0)), taken(1.0, 600.0, SIZE));
    assert_eq!(on(&FILE, 206, &part(0.0, 400.0)), taken(400.0, 1.0, SIZE));
}

#[test]
fn r20_a_part_may_end_before_what_was_asked_for() {
    assert_eq!(on(&FILE, 206, &part(400.0, 400.0)), taken(0.0, 1.0, SIZE));
}

#[test]
fn r21_a_part_from_elsewhere_does_not_fit() {
    for (from, to) in [(401.0, 999.0), (0.0, 399.0), (500.0, 600.0)] {
        assert_eq!(on(&FILE, 206, &part(from, to)), Err(Misfit::Elsewhere), "{from} to {to}");
    }
}

#[test]
fn r21_a_part_that_does_not_say_where_it_belongs_is_taken_only_on_trust() {
    let ask = Ask::Part(400.0, 999.0);
    let wanted = Wanted::default();
    let on = |known: &Representation, new: &Representation, trusts: bool| {
        fit(ask, &wanted, 400.0, Some(known), 206, new, trusts)
    };
    let fits = Ok(Fit { skip: 0.0, take: 600.0, whole: None });
    assert_eq!(on(&VEILED, &hidden(600.0), false), Err(Misfit::Hidden));
    assert_eq!(on(&VEILED, &hidden(600.0), true), fits);
    // Another unit, or no sense, is as good as none.
    let odd = Representation { range: ContentRange::Unsatisfied { total: SIZE }, ..hidden(600.0) };
    assert_eq!(on(&VEILED, &odd, false), Err(Misfit::Hidden));
    for other in [
        hidden(599.0),
        hidden(601.0),
        Representation { length: None, ..hidden(600.0) },
        Representation { modified: None, ..hidden(600.0) },
        Representation { modified: Some(8.0), ..hidden(600.0) },
        Representation { source: 4.0, ..hidden(600.0) },
        Representation { coding: Coding::Encoded, ..hidden(600.0) },
    ] {
        assert_eq!(on(&VEILED, &other, true), Err(Misfit::Hidden), "{other:?}");
    }
    // The tag speaks against it, though the times are the same.
    let (one, other) = (Some(1.0), Some(2.0));
    let known = Representation { etag: one, ..VEILED };
    let new = Representation { etag: other, ..hidden(600.0) };
    assert_eq!(on(&known, &new, true), Err(Misfit::Hidden));
}

#[test]
fn r21_what_is_not_shown_to_be_the_same_is_changed() {
    let total = |total| ContentRange::Part { first: 400.0, last: 999.0, total };
    let part = part(400.0, 999.0);
    for other in [
        Representation { etag: Some(2.0), ..part },
        Representation { etag: Some(2.0), weak: true, ..part },
        Representation { modified: Some(8.0), ..part },
        Representation { source: 4.0, ..part },
        Representation { coding: Coding::Encoded, ..part },
        Representation { range: total(Some(1_001.0)), ..part },
        // Nothing speaks against it, and nothing for it.
        Representation { etag: None, modified: None, ..part },
        Representation { etag: None, range: total(None), ..part },
    ] {
        assert_eq!(on(&FILE, 206, &other), Err(Misfit::Changed), "{other:?}");
    }
}

#[test]
fn r21_one_good_validator_is_enough() {
    let unknown = ContentRange::Part { first: 400.0, last: 999.0, total: None };
    let part = part(400.0, 999.0);
    for same in [
        Representation { modified: None, ..part },
        // The time of the last change, and the length.
        Representation { etag: None, ..part },
        Representation { coding: Coding::Hidden, open: false, ..part },
    ] {
        assert_eq!(on(&FILE, 206, &same), taken(0.0, 600.0, SIZE), "{same:?}");
    }
    let untold = Representation { range: unknown, ..part };
    assert_eq!(
        on(&FILE, 206, &untold),
        taken(0.0, 600.0, SIZE).map(|fit| Fit { whole: None, ..fit })
    );
}

#[test]
fn r21_a_weak_tag_proves_nothing() {
    let weak = |file: Representation| Representation { weak: true, modified: None, ..file };
    assert_eq!(on(&weak(FILE), 206, &weak(part(400.0, 999.0))), Err(Misfit::Changed));
    assert!(!weak(FILE).is_marked());
    // Beside the time of the last change it does no harm.
    let weak = |file: Representation| Representation { weak: true, ..file };
    assert_eq!(on(&weak(FILE), 206, &weak(part(400.0, 999.0))), taken(0.0, 600.0, SIZE));
    assert!(weak(FILE).is_marked());
}

#[test]
fn r21_what_can_be_told_from_others_is_marked() {
    for (is, file) in [
        (true, FILE),
        (true, VEILED),
        (true, Representation { modified: None, length: None, ..FILE }),
        (false, Representation { etag: None, length: None, ..FILE }),
        (false, Representation { etag: None, modified: None, ..FILE }),
        (false, Representation::UNKNOWN),
    ] {
        assert_eq!(file.is_marked(), is, "{file:?}");
    }
}

#[test]
fn r20_r21_a_whole_that_is_the_same_is_read_from_where_the_other_stopped() {
    let whole = Ok(Fit { skip: 400.0, take: f64::INFINITY, whole: Some(SIZE) });
    assert_eq!(on(&FILE, 200, &FILE), whole);
    assert_eq!(again(&FILE, 200, &FILE), whole);
    // Of bytes that may have been decoded nobody knows the length.
    let untold = whole.map(|fit| Fit { whole: None, ..fit });
    assert_eq!(again(&VEILED, 200, &VEILED), untold);
    for other in [
        Representation { etag: Some(2.0), ..FILE },
        Representation { modified: Some(8.0), ..FILE },
        Representation { length: Some(999.0), ..FILE },
        Representation { source: 4.0, ..FILE },
        Representation { etag: None, modified: None, ..FILE },
        Representation { coding: Coding::Encoded, ..FILE },
    ] {
        assert_eq!(on(&FILE, 200, &other), Err(Misfit::Changed), "{other:?}");
        assert_eq!(again(&FILE, 200, &other), Err(Misfit::Changed), "{other:?}");
    }
    let shorter = Representation { length: Some(300.0), ..FILE };
    let known = Representation { length: None, ..FILE };
    assert_eq!(again(&known, 200, &shorter), Err(Misfit::Elsewhere), "it ends before");
}

#[test]
fn r21_nothing_fits_that_has_no_body() {
    for status in [204, 205, 304, 201] {
        assert_eq!(on(&FILE, status, &FILE), Err(Misfit::Elsewhere), "{status}");
        assert_eq!(again(&FILE, status, &FILE), Err(Misfit::Elsewhere), "{status}");
        assert!(first(&Wanted::default(), status, &FILE).is_ok(), "{status} as a first answer");
    }
}

#[test]
fn r20_where_only_the_end_was_lost_nothing_more_is_taken() {
    let wanted = Wanted::default();
    let known = Some(&FILE);
    let over =
        |ask, new: &Representation, status| fit(ask, &wanted, SIZE, known, status, new, false);
    assert_eq!(over(Ask::Again, &FILE, 200), taken(SIZE, 0.0, SIZE));
    assert_eq!(over(Ask::Part(SIZE, SIZE), &FILE, 200), taken(SIZE, 0.0, SIZE));
    // Of a window within the file the byte behind it is asked for.
    let window = window(0.0, 499.0);
    let known = part(0.0, 499.0);
    let next =
        fit(Ask::Part(500.0, 500.0), &window, 500.0, Some(&known), 206, &part(500.0, 500.0), false);
    assert_eq!(next, taken(0.0, 0.0, 500.0));
}

#[test]
fn r20_a_part_without_a_known_end_may_be_followed_by_more() {
    let unknown = ContentRange::Part { first: 400.0, last: 499.0, total: None };
    let new = Representation { range: unknown, length: Some(100.0), ..FILE };
    let known = Representation { length: None, ..FILE };
    for last in [499.0, 999.0, f64::INFINITY] {
        let fitted =
            fit(Ask::Part(400.0, last), &Wanted::default(), 400.0, Some(&known), 206, &new, false);
        assert_eq!(fitted, Ok(Fit { skip: 0.0, take: 100.0, whole: None }), "{last}");
    }
}

#[test]
fn r8_an_answer_to_all_is_taken_as_it_is() {
    let all = Wanted::default();
    let taken = |whole| Ok(Fit { skip: 0.0, take: f64::INFINITY, whole });
    assert_eq!(first(&all, 200, &FILE), taken(Some(SIZE)));
    assert_eq!(first(&all, 200, &VEILED), taken(None));
    let encoded = Representation { coding: Coding::Encoded, ..FILE };
    assert_eq!(first(&all, 200, &encoded), taken(None));
    assert_eq!(first(&all, 206, &VEILED), Err(Misfit::Elsewhere), "a part that nobody asked for");
}

#[test]
fn r20_a_window_of_the_caller_is_cut_out_of_whatever_comes() {
    let wanted = window(200.0, 299.0);
    assert_eq!(first(&wanted, 206, &part(200.0, 299.0)), taken(0.0, 100.0, 100.0));
    assert_eq!(first(&wanted, 206, &part(150.0, 400.0)), taken(50.0, 100.0, 100.0));
    assert_eq!(first(&wanted, 206, &part(200.0, 249.0)), taken(0.0, 50.0, 100.0), "more follows");
    assert_eq!(first(&wanted, 206, &part(201.0, 299.0)), Err(Misfit::Elsewhere));
    assert_eq!(first(&wanted, 206, &hidden(100.0)), taken(0.0, 100.0, 100.0));
    assert_eq!(first(&wanted, 200, &FILE), taken(200.0, 100.0, 100.0));
    // A server that says 200 of the part alone.
    let alone = Representation { length: Some(100.0), ..FILE };
    assert_eq!(first(&wanted, 200, &alone), taken(0.0, 100.0, 100.0));
    // To the end, and beyond it.
    let wanted = window(200.0, f64::INFINITY);
    assert_eq!(first(&wanted, 206, &part(200.0, 999.0)), taken(0.0, 800.0, 800.0));
    assert_eq!(first(&window(200.0, 5_000.0), 206, &part(200.0, 999.0)), taken(0.0, 800.0, 800.0));
    let whole = Ok(Fit { skip: 200.0, take: f64::INFINITY, whole: Some(800.0) });
    assert_eq!(first(&wanted, 200, &FILE), whole);
    // Where nobody knows the length, the window may still end before it was to.
    let untold = Representation { length: None, ..hidden(0.0) };
    let open_end = Ok(Fit { skip: 0.0, take: 100.0, whole: None });
    assert_eq!(first(&window(200.0, 299.0), 206, &untold), open_end);
}

#[test]
fn r8_who_sees_the_status_is_given_what_the_head_says() {
    let wanted = Wanted { exact: false, ..window(200.0, 299.0) };
    let as_is = |whole| Ok(Fit { skip: 0.0, take: f64::INFINITY, whole });
    assert_eq!(first(&wanted, 200, &FILE), as_is(Some(SIZE)));
    assert_eq!(first(&wanted, 206, &part(150.0, 299.0)), as_is(Some(150.0)));
    assert_eq!(first(&wanted, 206, &part(200.0, 249.0)), as_is(Some(50.0)));
    let range = ContentRange::Part { first: 200.0, last: 349.0, total: None };
    assert_eq!(
        first(&wanted, 206, &Representation { range, ..part(200.0, 349.0) }),
        as_is(Some(150.0))
    );
    assert_eq!(first(&wanted, 206, &part(200.0, 299.0)), taken(0.0, 100.0, 100.0));
    assert_eq!(first(&wanted, 206, &hidden(100.0)), taken(0.0, 100.0, 100.0));
    let to_the_end = Wanted { last: 5_000.0, ..wanted };
    assert_eq!(first(&to_the_end, 206, &part(200.0, 999.0)), taken(0.0, 800.0, 800.0));
    // What the engine asked for is shown as what the caller did.
    let part_of_it =
        fit(Ask::Part(200.0, 249.0), &wanted, 0.0, None, 206, &part(200.0, 249.0), false);
    assert_eq!(part_of_it, taken(0.0, 50.0, 100.0));
}

#[test]
fn r8_what_cannot_be_asked_for_in_parts_is_never_judged() {
    let wanted = Wanted { partial: false, ..window(200.0, 299.0) };
    for (status, new) in [(200, FILE), (206, part(5.0, 9.0)), (206, VEILED), (204, FILE)] {
        let as_is = Ok(Fit { skip: 0.0, take: f64::INFINITY, whole: None });
        assert_eq!(first(&wanted, status, &new), as_is);
    }
}

/// Whatever is asked for and whatever comes, what is passed on are the bytes after those that are
/// there already.
#[test]
fn r20_what_fits_begins_where_the_other_stopped() {
    let rng = &mut Rng::with_seed(20);
    let mut fitted = 0;
    for _ in 0..200_000 {
        let size = f64::from(rng.u32(1..60));
        let mut place = || f64::from(rng.u32(0..64));
        let (from, to, begins, ends) = (place(), place(), place(), place());
        let kept = place().min(size);
        let ranged = rng.bool();
        let wanted = if ranged { window(from, to.max(from)) } else { Wanted::default() };
        let kept = kept.min(wanted.last - wanted.first + 1.0);
        let next = wanted.first + kept;
        let ask = match rng.u32(..3) {
            _ if kept == 0.0 => Ask::All,
            0 => Ask::Again,
            1 => Ask::Part(next, f64::INFINITY),
            _ => Ask::Part(next, next + 5.0),
        };
        let total = rng.bool().then_some(size);
        let is_part = rng.bool() && begins <= ends && ends < size;
        let range = ContentRange::Part { first: begins, last: ends, total };
        let known = Representation { length: Some(size), ..FILE };
        let new = if is_part { Representation { range, ..known } } else { known };
        let status = if is_part { 206 } else { 200 };
        let Ok(fit) = fit(ask, &wanted, kept, Some(&known), status, &new, false) else { continue };
        fitted += 1;
        let (begins, ends) = if is_part { (begins, ends) } else { (0.0, size - 1.0) };
        // A 200 that is as long as the window is taken for the part alone.
        let alone = !is_part && ranged && size == wanted.last - wanted.first + 1.0;
        let (begins, ends) = if alone { (wanted.first, wanted.last) } else { (begins, ends) };
        let passed = begins + fit.skip;
        let last = (passed + fit.take - 1.0).min(ends);
        assert!(fit.take == 0.0 || passed == next, "{ask:?} {wanted:?} {new:?} {fit:?}");
        assert!(last <= wanted.last, "{ask:?} {wanted:?} {new:?} {fit:?}");
        if let Some(whole) = fit.whole {
            let end = if alone { wanted.last + 1.0 } else { (wanted.last + 1.0).min(size) };
            let told = total.is_some() || !is_part;
            assert!(!told || whole == end - wanted.first, "{ask:?} {wanted:?} {new:?} {fit:?}");
            assert!(kept + fit.take.min(ends - next + 1.0) <= whole, "{ask:?} {new:?} {fit:?}");
        }
    }
    assert!(fitted > 20_000, "{fitted} fitted");
}

/// Whoever sees the status sees a part that nobody asked for as what it is; others get none.
#[test]
fn r8_a_part_that_nobody_asked_for_is_for_those_who_see_its_status() {
    let range = ContentRange::Part { first: 0.0, last: 9.0, total: Some(300.0) };
    let part = Representation { range, length: Some(10.0), ..Representation::UNKNOWN };
    let fitted = |exact| {
        let wanted = Wanted { exact, ..Wanted::default() };
        fit(Ask::All, &wanted, 0.0, None, 206, &part, false)
    };
    assert!(fitted(false).is_ok_and(|fit| fit.skip == 0.0 && fit.take == f64::INFINITY));
    assert!(fitted(true).is_err() || fitted(true).is_ok_and(|fit| fit.whole == Some(300.0)));
}

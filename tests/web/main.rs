//! The driver in a browser: what it sends, tells, aborts and leaves behind.
#![cfg(target_family = "wasm")]

mod browser;
#[path = "../replay/script.rs"]
mod script;

use std::rc::Rc;

use browser::{Page, RELOAD, SEGMENT, Start, fact, field, now, numbers, record, view};
use js_sys::{Array, Function, Promise};
use wasm_bindgen::prelude::*;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};
use web_sys::{AbortController, Request, RequestInit, Response};

wasm_bindgen_test_configure!(run_in_browser);

/// The file is the one that the native test of `tests/core/replay.rs` keeps.
#[wasm_bindgen_test]
fn r14_the_script_leads_to_the_same_decisions_as_natively_to_the_last_bit() {
    let played = script::play();
    let kept = include_str!("../vectors/replay.tsv");
    let other = kept.lines().zip(played.lines()).find(|(kept, played)| kept != played);
    assert!(kept == played, "the first line that differs: {other:#?}");
}

/// What the sink was told at place `index` of its `nth` call of this name.
fn told(page: &Page, name: &str, nth: u32, index: u32) -> JsValue {
    Array::from(&page.fixture.told(name).get(nth)).get(index)
}

/// A request whose first attempt was sent at `at` already.
fn adopted(controller: &AbortController, at: f64) -> Start {
    Start { adopted: Some((controller.clone(), at)), ..Start::default() }
}

#[wasm_bindgen_test]
async fn a_healthy_request_is_sent_accepted_and_finished() {
    let page = Page::open().answers(200);
    page.start(1);
    page.until("accept", 1).await;
    page.tell(fact::READING, 1, 1, [10.0, 0.0, 0.0]);
    assert!(page.chunk(1, 1));
    assert!(page.tell(fact::BODY_END, 1, 1, [30.0, 1.0, 0.0]));
    assert_eq!(page.fixture.heard(), "sent accept changed", "the bandwidth, at least");
    assert_eq!(page.aborted(), [false]);
    assert_eq!(page.fixture.timer_count(), 0);
}

#[wasm_bindgen_test]
async fn a_refused_attempt_is_cut_and_followed_by_the_next() {
    let page = Page::open().answers(503).answers(200);
    page.start(1);
    page.until("accept", 1).await;
    assert_eq!(page.fixture.heard(), "sent failed cut changed sent changed accept");
    assert_eq!(told(&page, "accept", 0, 1), JsValue::from(2));
    assert_eq!(page.aborted(), [true, false]);
}

#[wasm_bindgen_test]
async fn what_an_old_attempt_still_delivers_does_not_count() {
    let page = Page::open().meets("reject").answers(200);
    page.start(1);
    page.until("accept", 1).await;
    assert!(!page.chunk(1, 1));
    assert!(!page.tell(fact::BODY_END, 1, 1, [20.0, 1.0, 0.0]));
    assert!(page.chunk(1, 2));
}

#[wasm_bindgen_test]
async fn a_hanging_attempt_is_aborted_at_its_bound_and_sent_again() {
    let page = Page::open().meets("hang").answers(200);
    page.start(1);
    page.until("accept", 1).await;
    assert_eq!(page.aborted(), [true, false]);
}

#[wasm_bindgen_test]
async fn a_silent_body_is_aborted_and_sent_again() {
    let page = Page::open().answers(200).answers(200);
    page.start(1);
    page.until("accept", 1).await;
    let sent_at = told(&page, "sent", 0, 2).as_f64().expect("a time");
    page.tell(fact::READING, 1, 1, [sent_at, 0.0, 0.0]);
    page.until("accept", 2).await;
    assert_eq!(page.aborted(), [true, false]);
}

#[wasm_bindgen_test]
async fn r10_an_abort_reaches_the_signal_of_the_attempt_and_leaves_no_timer() {
    let page = Page::open().meets("hang");
    page.start(1);
    assert_eq!(page.fixture.timer_count(), 1);
    page.abort(1);
    assert_eq!(page.aborted(), [true]);
    assert_eq!(page.fixture.timer_count(), 0);
    page.sleep(300).await;
    assert_eq!(page.fixture.heard(), "sent", "JavaScript knows of its own abort");
}

#[wasm_bindgen_test]
async fn r10_an_abort_within_a_delay_leaves_no_timer_and_sends_nothing() {
    let page = Page::open().answers(503).answers(200);
    page.start(1);
    page.until("cut", 1).await;
    page.abort(1);
    assert_eq!(page.fixture.timer_count(), 0);
    page.sleep(150).await;
    assert_eq!(page.fetches().length(), 1);
}

#[wasm_bindgen_test]
async fn an_adopted_attempt_is_not_sent_again_and_began_when_it_was_sent() {
    let page = Page::open();
    let controller = AbortController::new().expect("a controller");
    page.start_with(1, adopted(&controller, 1.0));
    let response: JsValue = Response::new_with_opt_str(Some("body")).expect("a response").into();
    page.fixture.follow(1, 1, &Promise::resolve(&response));
    page.until("accept", 1).await;
    assert_eq!(page.fixture.heard(), "accept", "JavaScript has sent it");
    assert_eq!(page.fetches().length(), 0);
    assert_eq!(page.view(view::LOG)[1][..2], [1.0, 1.0]);
}

#[wasm_bindgen_test]
async fn an_adopted_attempt_that_fails_is_followed_by_one_of_the_drivers_own() {
    let page = Page::open().answers(200);
    let controller = AbortController::new().expect("a controller");
    page.start_with(1, adopted(&controller, now()));
    page.fixture.follow(1, 1, &Promise::reject(&"broke".into()));
    page.until("accept", 1).await;
    assert_eq!(page.fixture.heard(), "failed cut changed sent changed accept");
    assert_eq!(told(&page, "accept", 0, 1), JsValue::from(2));
    assert!(controller.signal().aborted());
}

#[wasm_bindgen_test]
async fn an_adopted_attempt_is_aborted_through_its_own_controller() {
    let page = Page::open();
    let controller = AbortController::new().expect("a controller");
    page.start_with(1, adopted(&controller, 1.0));
    page.abort(1);
    assert!(controller.signal().aborted());
}

#[wasm_bindgen_test]
async fn a_listener_may_call_back_into_the_driver() {
    let page = Rc::new(Page::open().answers(503).answers(200).answers(200));
    let own = Rc::downgrade(&page);
    page.listen("cut", move || {
        if let Some(page) = own.upgrade() {
            let _ = [view::REQUESTS, view::HOSTS, view::LOG].map(|what| page.view(what));
            page.tell(fact::RETRY_NOW, 0, 0, [0.0; 3]);
            page.start(page.fetches().length() + 1);
        }
    });
    page.start(1);
    page.until("accept", 2).await;
    assert_eq!(page.fetches().length(), 3, "the retry, and the request of the listener");
}

#[wasm_bindgen_test]
async fn a_listener_may_abort_the_very_request_that_it_is_told_of() {
    let page = Rc::new(Page::open().answers(200));
    let own = Rc::downgrade(&page);
    page.listen("accept", move || {
        if let Some(page) = own.upgrade() {
            page.abort(1);
        }
    });
    page.start(1);
    page.until("accept", 1).await;
    page.sleep(0).await;
    assert_eq!(page.fixture.heard(), "sent accept");
    assert_eq!(page.aborted(), [true]);
    assert_eq!(page.fixture.timer_count(), 0);
}

#[wasm_bindgen_test]
async fn a_listener_may_abort_the_attempt_that_is_being_sent() {
    let page = Rc::new(Page::open().answers(200));
    let own = Rc::downgrade(&page);
    page.listen("sent", move || {
        if let Some(page) = own.upgrade() {
            page.abort(1);
        }
    });
    page.start(1);
    assert_eq!(page.aborted(), [true]);
    page.sleep(50).await;
    assert_eq!(page.fixture.heard(), "sent");
    assert_eq!(page.fixture.timer_count(), 0);
}

#[wasm_bindgen_test]
async fn a_listener_may_close_the_driver_while_an_attempt_is_being_sent() {
    let page = Rc::new(Page::open().answers(200));
    let own = Rc::downgrade(&page);
    page.listen("sent", move || {
        if let Some(page) = own.upgrade() {
            page.close();
        }
    });
    page.start(1);
    assert_eq!(page.aborted(), [true]);
    page.sleep(50).await;
    assert_eq!(page.fixture.heard(), "sent");
}

#[wasm_bindgen_test]
async fn a_listener_of_an_attempts_signal_may_call_back_into_the_driver() {
    let page = Rc::new(Page::open().meets("hang").answers(200));
    page.start(1);
    let own = Rc::downgrade(&page);
    let listener = Closure::<dyn FnMut()>::new(move || {
        if let Some(page) = own.upgrade() {
            page.start(2);
        }
    });
    let signal = field(&page.fetches().get(0), "signal");
    let listen: Function = field(&signal, "addEventListener").into();
    listen.call2(&signal, &"abort".into(), &listener.into_js_value()).expect("it listens");
    page.abort(1);
    page.until("accept", 1).await;
    assert_eq!(told(&page, "accept", 0, 0), JsValue::from(2));
}

#[wasm_bindgen_test]
async fn a_fetch_may_close_the_driver_that_calls_it() {
    let page = Rc::new(Page::open());
    let own = Rc::downgrade(&page);
    let signals = Array::new();
    let seen = signals.clone();
    let closing = Closure::<dyn FnMut(JsValue, JsValue)>::new(move |_, init| {
        seen.push(&field(&init, "signal"));
        if let Some(page) = own.upgrade() {
            page.close();
        }
    });
    let closing = closing.into_js_value().unchecked_into();
    page.start_with(1, Start { fetch: Some(closing), ..Start::default() });
    assert!(field(&signals.get(0), "aborted").is_truthy());
    page.sleep(50).await;
    assert_eq!(page.fixture.heard(), "sent");
}

#[wasm_bindgen_test]
async fn each_attempt_has_its_own_copy_of_the_init() {
    let page = Page::open().answers(503).answers(200);
    let init = js_sys::Object::new();
    js_sys::Reflect::set(&init, &"mode".into(), &"cors".into()).expect("an object");
    page.start_with(1, Start { init: init.clone().into(), ..Start::default() });
    page.until("accept", 1).await;
    let inits: Vec<_> = page.fetches().iter().map(|fetch| field(&fetch, "init")).collect();
    assert_eq!(inits.len(), 2);
    assert_ne!(inits[0], inits[1]);
    assert_ne!(field(&inits[0], "signal"), field(&inits[1], "signal"));
    assert!(inits.iter().all(|init| field(init, "mode") == "cors"));
    assert_eq!(js_sys::Object::keys(&init).length(), 1, "the caller's is left alone");
}

#[wasm_bindgen_test]
async fn bodies_that_break_end_in_a_verdict() {
    let page = Page::open().answers(200).answers(200).answers(200);
    page.start(1);
    for attempt in 1..=3 {
        page.until("accept", attempt).await;
        page.tell(fact::BODY_LOST, 1, attempt, [f64::from(attempt), 0.0, 0.0]);
    }
    page.until("fail", 1).await;
    assert_eq!(record(&told(&page, "fail", 0, 1))[..2], [22.0, 0.0]);
}

#[wasm_bindgen_test]
async fn closing_aborts_what_is_under_way_and_leaves_no_timer() {
    let page = Page::open().meets("hang").answers(503);
    page.start(1);
    page.start(2);
    page.until("cut", 1).await;
    page.close();
    assert_eq!(page.fixture.timer_count(), 0);
    assert_eq!(page.aborted(), [true, true]);
    let heard = page.fixture.heard();
    page.sleep(300).await;
    assert_eq!(page.fixture.heard(), heard);
    assert_eq!((page.fixture.timer_count(), page.fetches().length()), (0, 2));
}

#[wasm_bindgen_test]
async fn closing_leaves_a_body_under_way_to_its_reader() {
    let page = Page::open().answers(200).meets("hang");
    page.start(1);
    page.until("accept", 1).await;
    page.start(2);
    page.close();
    assert_eq!(page.aborted(), [false, true]);
    assert_eq!(page.fixture.timer_count(), 0);
}

#[wasm_bindgen_test]
async fn a_failure_is_an_array_of_numbers_in_the_documented_order() {
    let page = Page::open().answers_with(410, "Retry-After", "60");
    page.start(1);
    page.until("fail", 1).await;
    assert_eq!(page.fixture.heard(), "sent failed exhausted fail changed");
    let failure = record(&told(&page, "fail", 0, 1));
    let [class, reason, status, attempts, elapsed, retry_at, limit, svta, holding, minor, suspect] =
        failure[..]
    else {
        panic!("eleven numbers, not {failure:?}");
    };
    assert_eq!([class, reason, status, attempts, svta], [6.0, 4.0, 410.0, 1.0, 3410.0]);
    assert!(elapsed < 1_000.0 && retry_at >= 60_000.0 && limit.is_nan());
    assert_eq!([holding, minor, suspect], [0.0; 3]);
    assert_eq!(record(&told(&page, "exhausted", 0, 1))[..5], failure[..5]);
}

#[wasm_bindgen_test]
async fn an_entry_of_the_log_is_an_array_of_numbers_in_the_documented_order() {
    let page = Page::open().answers(410);
    page.start(7);
    page.until("fail", 1).await;
    let log = page.view(view::LOG);
    let without_time: Vec<_> = log.iter().map(|row| &row[1..]).collect();
    let site = f64::from(SEGMENT);
    assert_eq!(
        without_time,
        [
            [7.0, 0.0, 0.0, site, 0.0],
            [7.0, 1.0, 1.0, 0.0, 0.0],
            [7.0, 1.0, 3.0, 6.0, 410.0],
            [7.0, 1.0, 6.0, 4.0, 1.0],
            [7.0, 1.0, 7.0, 4.0, 1.0],
        ]
    );
}

#[wasm_bindgen_test]
async fn a_retry_state_is_an_array_of_numbers_in_the_documented_order() {
    let page = Page::open().answers(503);
    page.start(1);
    page.until("cut", 1).await;
    let states = page.view(view::REQUESTS);
    let [state] = &states[..] else { panic!("one request, not {states:?}") };
    assert_eq!(state[..5], [1.0, 1.0, 3.0, 17.0, 503.0]);
    assert!(state[5] > 0.0);
    assert_eq!(state[6..], [0.0, 0.0]);
}

#[wasm_bindgen_test]
async fn hosts_and_the_estimate_are_numbers_in_the_documented_order() {
    let page = Page::open().answers_with(429, "Retry-After", "1");
    let [estimate, excluded] = page.view(view::ESTIMATE)[0][..] else { panic!("two numbers") };
    assert!(estimate.is_nan(), "nothing was seen yet");
    assert_eq!(excluded, 0.0);
    page.start(1);
    page.until("cut", 1).await;
    let hosts = page.view(view::HOSTS);
    let [host] = &hosts[..] else { panic!("one host, not {hosts:?}") };
    assert_eq!(host[..3], [0.0; 3], "up, as who asks for less is well");
    assert!(host[3].is_nan() && host[4].is_nan() && host[5] == 0.0);
    assert!(host[6] > now() && host[7] > 0.0, "until when, and how fast then: {host:?}");
}

/// A failed attempt, as its record: `[attempt, class, status, svta]` and what varies.
#[wasm_bindgen_test]
async fn each_failed_attempt_is_told() {
    let page = Page::open().answers(503).meets("reject").answers(200);
    page.start(1);
    page.until("accept", 1).await;
    let (refused, rejected) =
        (record(&told(&page, "failed", 0, 1)), record(&told(&page, "failed", 1, 1)));
    assert_eq!(refused[..4], [1.0, 17.0, 503.0, 3503.0]);
    assert!((0.0..1_000.0).contains(&refused[4]) && refused[5] == 0.0, "{refused:?}");
    assert_eq!(rejected[..3], [2.0, 21.0, 0.0]);
}

/// `shouldRetry` is asked about each failure; what it is told is the number of the question.
const SHOULD_RETRY: u8 = 1;

#[wasm_bindgen_test]
async fn a_hook_is_asked_and_its_answer_decides() {
    for (answer, sent) in [(1.0, 1), (2.0, 2)] {
        let page = Page::open().answers(410).answers(200);
        page.start_with(1, Start { hooks: SHOULD_RETRY, ..Start::default() });
        page.until("ask", 1).await;
        assert_eq!(page.fetches().length(), 1, "nothing is sent before the answer");
        let question = told(&page, "ask", 0, 2).as_f64().expect("a number") as u32;
        assert_eq!(told(&page, "ask", 0, 1), JsValue::from(0));
        page.tell(fact::ANSWER, 1, question + 1, [2.0, 0.0, 0.0]);
        page.tell(fact::ANSWER, 1, question, [answer, 0.0, 0.0]);
        page.until(if sent == 1 { "fail" } else { "accept" }, 1).await;
        assert_eq!(page.fetches().length(), sent);
    }
}

#[wasm_bindgen_test]
async fn a_hook_that_does_not_answer_leaves_it_to_the_ladder() {
    let page = Page::open().answers(503).answers(200);
    page.start_with(1, Start { hooks: SHOULD_RETRY, ..Start::default() });
    page.until("accept", 1).await;
    assert_eq!(page.fixture.told("ask").length(), 1);
}

/// `refreshPlaybackToken`.
const REFRESH_TOKEN: u8 = 2;

#[wasm_bindgen_test]
async fn a_refused_credential_is_refreshed_once_for_all_and_they_go_to_their_new_urls() {
    let page = Page::open().answers(403).answers(403).answers(200).answers(200);
    for request in 1..=2 {
        let start = Start { hooks: REFRESH_TOKEN, credential: 1, ..Start::default() };
        page.start_with(request, start);
    }
    page.until("failed", 2).await;
    page.sleep(50).await;
    assert_eq!(page.fixture.told("refresh").length(), 1);
    let [credential, asking, question] =
        [0, 1, 2].map(|place| told(&page, "refresh", 0, place).as_f64().expect("a number") as u32);
    assert_eq!([credential, asking], [1, 1]);
    for request in 1..=2 {
        let url = format!("/media?fresh={request}");
        page.driver.readdress(request, url.as_str().into(), None);
    }
    page.tell(fact::REFRESHED, credential, question, [1.0, 0.0, 0.0]);
    page.until("accept", 2).await;
    let sent: Vec<_> = page.fetches().iter().map(|fetch| field(&fetch, "input")).collect();
    assert_eq!(sent, ["/media", "/media", "/media?fresh=1", "/media?fresh=2"]);
}

#[wasm_bindgen_test]
async fn a_credential_that_is_not_renewed_ends_the_request() {
    let page = Page::open().answers(403);
    page.start_with(1, Start { hooks: REFRESH_TOKEN, credential: 1, ..Start::default() });
    page.until("refresh", 1).await;
    let question = told(&page, "refresh", 0, 2).as_f64().expect("a number") as u32;
    page.tell(fact::REFRESHED, 1, question, [0.0; 3]);
    page.until("fail", 1).await;
    assert_eq!(record(&told(&page, "fail", 0, 1))[..3], [4.0, 10.0, 403.0]);
}

#[wasm_bindgen_test]
async fn the_word_of_the_detectors_comes_with_the_response() {
    // The host asks for less, for 300 ms: no failure of a credential, whatever the status.
    let page = Page::open().answers(403).answers(200);
    page.fixture.judge(2, 300.0, 0);
    page.start(1);
    page.until("failed", 1).await;
    let refused_at = now();
    page.until("accept", 1).await;
    assert_eq!(record(&told(&page, "failed", 0, 1))[1..3], [14.0, 403.0]);
    assert!(now() - refused_at >= 290.0);
}

/// A reload whose answer may be held back, with directives.
const DIRECTIVES: u32 = 8 | 32;

#[wasm_bindgen_test]
async fn directives_that_are_refused_are_given_up_before_the_next_attempt() {
    let page = Rc::new(Page::open().answers(400).answers(200));
    let own = Rc::downgrade(&page);
    page.listen("plain", move || {
        if let Some(page) = own.upgrade() {
            page.driver.readdress(1, "/plain".into(), None);
        }
    });
    let input = "/live?_HLS_msn=7".into();
    page.start_with(1, Start { site: RELOAD, flags: DIRECTIVES, input, ..Start::default() });
    page.until("accept", 1).await;
    assert_eq!(page.fixture.told("plain").length(), 1);
    let sent: Vec<_> = page.fetches().iter().map(|fetch| field(&fetch, "input")).collect();
    assert_eq!(sent, ["/live?_HLS_msn=7", "/plain"]);
}

#[wasm_bindgen_test]
async fn another_init_comes_with_another_address() {
    let page = Page::open().answers(503).answers(200);
    page.start(1);
    page.until("cut", 1).await;
    let init = RequestInit::new();
    init.set_method("POST");
    page.driver.readdress(1, "/other".into(), Some(init));
    page.until("accept", 1).await;
    let sent = page.fetches().get(1);
    assert_eq!(field(&sent, "input"), JsValue::from("/other"));
    assert_eq!(field(&field(&sent, "init"), "method"), JsValue::from("POST"));
    // Of a request that nobody knows, or no longer, nothing comes.
    page.driver.readdress(9, "/other".into(), None);
    page.abort(1);
    page.driver.readdress(1, "/other".into(), None);
}

#[wasm_bindgen_test]
async fn a_fact_that_nobody_knows_is_none() {
    let page = Page::open().meets("hang");
    page.start(1);
    let (heard, log) = (page.fixture.heard(), page.view(view::LOG));
    assert!(page.tell(4_711, 1, 1, [1.0, 2.0, 3.0]));
    assert_eq!((page.fixture.heard(), page.view(view::LOG)), (heard, log));
    assert_eq!(page.aborted(), [false]);
}

#[wasm_bindgen_test]
async fn another_source_brings_its_policies_for_what_starts_then() {
    let page = Page::open().answers(503).answers(503);
    let mut numbers = numbers();
    let (row, sites) = (12, 11);
    let attempts = numbers.len() - row * (sites - SEGMENT as usize) + 3;
    assert_eq!(numbers[attempts], 3.0);
    numbers[attempts] = 1.0;
    page.driver.source(&numbers);
    page.start(1);
    page.until("fail", 1).await;
    assert_eq!(page.fetches().length(), 1);
}

#[wasm_bindgen_test]
async fn the_attempt_of_a_final_refusal_is_left_alone() {
    let page = Page::open().answers(403);
    page.start(1);
    page.until("fail", 1).await;
    assert_eq!(page.aborted(), [false]);
}

#[wasm_bindgen_test]
async fn a_fetch_that_throws_is_one_that_rejects() {
    for what in ["reject", "throw"] {
        let page = Page::open().meets(what).meets(what).meets(what);
        page.start(1);
        page.until("fail", 1).await;
        assert_eq!(page.fetches().length(), 3);
        assert_eq!(record(&told(&page, "fail", 0, 1))[..2], [21.0, 0.0]);
    }
}

#[wasm_bindgen_test]
async fn a_rejection_without_a_network_waits_for_it() {
    let page = Page::open().meets("reject").answers(200);
    js_sys::Reflect::set(&page.fixture, &"online".into(), &false.into()).expect("an object");
    page.start(1);
    page.until("cut", 1).await;
    page.sleep(150).await;
    assert_eq!(page.fetches().length(), 1);
    page.tell(fact::ONLINE, 1, 0, [0.0; 3]);
    page.until("accept", 1).await;
}

#[wasm_bindgen_test]
async fn a_page_in_place_of_media_is_sent_again() {
    let page = Page::open().answers(200).answers(200);
    page.start(1);
    page.until("accept", 1).await;
    page.tell(fact::PAGE, 1, 1, [1.0, 0.0, 0.0]);
    page.until("accept", 2).await;
    assert_eq!(page.aborted(), [true, false]);
}

#[wasm_bindgen_test]
async fn another_fetch_is_called_in_place_of_the_global_one() {
    let page = Page::open();
    let other = Function::new_with_args("input", "return new Response(input)");
    page.start_with(1, Start { fetch: Some(other), ..Start::default() });
    page.until("accept", 1).await;
    assert_eq!(page.fetches().length(), 0);
}

#[wasm_bindgen_test]
async fn a_request_with_a_body_is_sent_whole_each_time() {
    let page = Page::open().answers(503).answers(200);
    let init = RequestInit::new();
    init.set_method("POST");
    init.set_body(&"challenge".into());
    let request = Request::new_with_str_and_init("/license", &init).expect("a request");
    page.start_with(1, Start { input: request.into(), ..Start::default() });
    page.until("accept", 1).await;
    for fetch in page.fetches().iter() {
        let sent = field(&fetch, "input").unchecked_into::<Request>();
        let body = wasm_bindgen_futures::JsFuture::from(sent.text().expect("unread")).await;
        assert_eq!(body.expect("a body"), JsValue::from("challenge"));
    }
}

#[wasm_bindgen_test]
async fn a_response_of_which_nothing_can_be_read_is_final() {
    let page = Page::open().answers(0);
    page.start(1);
    page.until("fail", 1).await;
    assert_eq!(record(&told(&page, "fail", 0, 1))[..3], [12.0, 4.0, 0.0]);
}

//! The driver in a browser: what it sends, tells, aborts and leaves behind.
#![cfg(target_family = "wasm")]

mod browser;
#[path = "../replay/script.rs"]
mod script;

use std::rc::Rc;

use browser::{Page, SEGMENT, field, now, record};
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

#[wasm_bindgen_test]
async fn a_healthy_request_is_sent_accepted_and_finished() {
    let page = Page::open().answers(200);
    page.start(1);
    page.until("accept", 1).await;
    page.driver.reading(1, 1, 10.0);
    assert!(page.driver.chunk(1, 1, 4.0, true, 20.0));
    assert!(page.driver.body_end(1, 1, 30.0));
    assert_eq!(page.fixture.heard(), "sent accept changed", "the bandwidth, at least");
    assert_eq!(page.aborted(), [false]);
    assert_eq!(page.fixture.timer_count(), 0);
}

#[wasm_bindgen_test]
async fn a_refused_attempt_is_cut_and_followed_by_the_next() {
    let page = Page::open().answers(503).answers(200);
    page.start(1);
    page.until("accept", 1).await;
    assert_eq!(page.fixture.heard(), "sent cut changed sent changed accept");
    assert_eq!(told(&page, "accept", 0, 1), JsValue::from(2));
    assert_eq!(page.aborted(), [true, false]);
}

#[wasm_bindgen_test]
async fn what_an_old_attempt_still_delivers_does_not_count() {
    let page = Page::open().meets("reject").answers(200);
    page.start(1);
    page.until("accept", 1).await;
    assert!(!page.driver.chunk(1, 1, 4.0, true, 20.0));
    assert!(!page.driver.body_end(1, 1, 20.0));
    assert!(page.driver.chunk(1, 2, 4.0, true, 20.0));
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
    page.driver.reading(1, 1, told(&page, "sent", 0, 2).as_f64().expect("a time"));
    page.until("accept", 2).await;
    assert_eq!(page.aborted(), [true, false]);
}

#[wasm_bindgen_test]
async fn r10_an_abort_reaches_the_signal_of_the_attempt_and_leaves_no_timer() {
    let page = Page::open().meets("hang");
    page.start(1);
    assert_eq!(page.fixture.timer_count(), 1);
    page.driver.abort(1);
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
    page.driver.abort(1);
    assert_eq!(page.fixture.timer_count(), 0);
    page.sleep(150).await;
    assert_eq!(page.fetches().length(), 1);
}

#[wasm_bindgen_test]
async fn an_adopted_attempt_is_not_sent_again_and_began_when_it_was_sent() {
    let page = Page::open();
    let controller = AbortController::new().expect("a controller");
    page.start_adopted(1, &controller, 1.0);
    let response: JsValue = Response::new_with_opt_str(Some("body")).expect("a response").into();
    page.fixture.follow(1, 1, &Promise::resolve(&response));
    page.until("accept", 1).await;
    assert_eq!(page.fixture.heard(), "accept", "JavaScript has sent it");
    assert_eq!(page.fetches().length(), 0);
    assert_eq!(record(&Array::from(&page.driver.log()).get(1))[..2], [1.0, 1.0]);
}

#[wasm_bindgen_test]
async fn an_adopted_attempt_that_fails_is_followed_by_one_of_the_drivers_own() {
    let page = Page::open().answers(200);
    let controller = AbortController::new().expect("a controller");
    page.start_adopted(1, &controller, now());
    page.fixture.follow(1, 1, &Promise::reject(&"broke".into()));
    page.until("accept", 1).await;
    assert_eq!(page.fixture.heard(), "cut changed sent changed accept");
    assert_eq!(told(&page, "accept", 0, 1), JsValue::from(2));
    assert!(controller.signal().aborted());
}

#[wasm_bindgen_test]
async fn an_adopted_attempt_is_aborted_through_its_own_controller() {
    let page = Page::open();
    let controller = AbortController::new().expect("a controller");
    page.start_adopted(1, &controller, 1.0);
    page.driver.abort(1);
    assert!(controller.signal().aborted());
}

#[wasm_bindgen_test]
async fn a_listener_may_call_back_into_the_driver() {
    let page = Rc::new(Page::open().answers(503).answers(200).answers(200));
    let own = Rc::downgrade(&page);
    page.listen("cut", move || {
        if let Some(page) = own.upgrade() {
            let _ = (page.driver.retry_states(), page.driver.log(), page.driver.bandwidth());
            page.driver.retry_now();
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
            page.driver.abort(1);
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
            page.driver.abort(1);
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
    page.driver.abort(1);
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
    page.start_with(1, "/media".into(), js_sys::Object::new().into(), Some(closing));
    assert!(field(&signals.get(0), "aborted").is_truthy());
    page.sleep(50).await;
    assert_eq!(page.fixture.heard(), "sent");
}

#[wasm_bindgen_test]
async fn each_attempt_has_its_own_copy_of_the_init() {
    let page = Page::open().answers(503).answers(200);
    let init = js_sys::Object::new();
    js_sys::Reflect::set(&init, &"mode".into(), &"cors".into()).expect("an object");
    page.start_with(1, "/media".into(), init.clone().into(), None);
    page.until("accept", 1).await;
    let inits: Vec<_> = page.fetches().iter().map(|fetch| field(&fetch, "init")).collect();
    assert_eq!(inits.len(), 2);
    assert_ne!(inits[0], inits[1]);
    assert_ne!(field(&inits[0], "signal"), field(&inits[1], "signal"));
    assert!(inits.iter().all(|init| field(init, "mode") == "cors"));
    assert_eq!(js_sys::Object::keys(&init).length(), 1, "the caller's is left alone");
}

#[wasm_bindgen_test]
async fn the_error_that_broke_a_body_comes_with_the_verdict() {
    let page = Page::open().answers(200).answers(200).answers(200);
    page.start(1);
    for attempt in 1..=3 {
        page.until("accept", attempt).await;
        let error = js_sys::TypeError::new("broke").into();
        page.driver.body_lost(1, attempt, false, error, f64::from(attempt));
    }
    page.until("fail", 1).await;
    assert_eq!(record(&told(&page, "fail", 0, 1))[..2], [22.0, 0.0]);
    assert_eq!(field(&told(&page, "fail", 0, 3), "message"), JsValue::from("broke"));
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
    let page = Page::open().answers_with(404, "Retry-After", "60");
    page.start(1);
    page.until("fail", 1).await;
    assert_eq!(page.fixture.heard(), "sent exhausted fail changed");
    let failure = record(&told(&page, "fail", 0, 1));
    let [class, reason, status, attempts, elapsed, retry_at, limit, svta, holding] = failure[..]
    else {
        panic!("nine numbers, not {failure:?}");
    };
    assert_eq!([class, reason, status, attempts, svta], [10.0, 4.0, 404.0, 1.0, 3404.0]);
    assert!(elapsed < 1_000.0 && retry_at >= 60_000.0 && limit.is_nan());
    assert_eq!(holding, 0.0);
    assert_eq!(record(&told(&page, "exhausted", 0, 1))[..5], failure[..5]);
}

#[wasm_bindgen_test]
async fn an_entry_of_the_log_is_an_array_of_numbers_in_the_documented_order() {
    let page = Page::open().answers(404);
    page.start(7);
    page.until("fail", 1).await;
    let log: Vec<_> = Array::from(&page.driver.log()).iter().map(|row| record(&row)).collect();
    let without_time: Vec<_> = log.iter().map(|row| &row[1..]).collect();
    let site = f64::from(SEGMENT);
    assert_eq!(
        without_time,
        [
            [7.0, 0.0, 0.0, site, 0.0],
            [7.0, 1.0, 1.0, 0.0, 0.0],
            [7.0, 1.0, 3.0, 10.0, 404.0],
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
    let state = record(&Array::from(&page.driver.retry_states()).get(0));
    assert_eq!(state[..5], [1.0, 1.0, 3.0, 17.0, 503.0]);
    assert!(state[5] > 0.0);
    assert_eq!(state[6..], [0.0, 0.0]);
}

#[wasm_bindgen_test]
async fn a_final_refusal_comes_with_its_response() {
    let page = Page::open().answers(403);
    page.start(1);
    page.until("fail", 1).await;
    let response = told(&page, "fail", 0, 2).unchecked_into::<Response>();
    assert_eq!((response.status(), response.body_used()), (403, false));
    assert_eq!(page.aborted(), [false]);
}

#[wasm_bindgen_test]
async fn the_last_rejection_comes_with_its_error() {
    for (what, name) in [("reject", "TypeError"), ("throw", "SyntaxError")] {
        let page = Page::open().meets(what).meets(what).meets(what);
        page.start(1);
        page.until("fail", 1).await;
        assert_eq!(page.fetches().length(), 3);
        assert_eq!(field(&told(&page, "fail", 0, 3), "name"), JsValue::from(name));
        assert!(told(&page, "fail", 0, 2).is_undefined());
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
    page.driver.online(true);
    page.until("accept", 1).await;
}

#[wasm_bindgen_test]
async fn a_page_in_place_of_media_is_sent_again() {
    let page = Page::open().answers(200).answers(200);
    page.start(1);
    page.until("accept", 1).await;
    page.driver.body_lost(1, 1, true, JsValue::UNDEFINED, 1.0);
    page.until("accept", 2).await;
    assert_eq!(page.aborted(), [true, false]);
}

#[wasm_bindgen_test]
async fn another_fetch_is_called_in_place_of_the_global_one() {
    let page = Page::open();
    let other = Function::new_with_args("input", "return new Response(input)");
    page.start_with(1, "/media".into(), js_sys::Object::new().into(), Some(other));
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
    page.start_with(1, request.into(), js_sys::Object::new().into(), None);
    page.until("accept", 1).await;
    for fetch in page.fetches().iter() {
        let sent = field(&fetch, "input").unchecked_into::<Request>();
        let body = wasm_bindgen_futures::JsFuture::from(sent.text().expect("unread")).await;
        assert_eq!(body.expect("a body"), JsValue::from("challenge"));
    }
}

#[wasm_bindgen_test]
async fn a_response_of_which_nothing_can_be_read_is_final_and_handed_on() {
    let page = Page::open().answers(0);
    page.start(1);
    page.until("fail", 1).await;
    assert_eq!(record(&told(&page, "fail", 0, 1))[..3], [12.0, 4.0, 0.0]);
    let response = told(&page, "fail", 0, 2).unchecked_into::<Response>();
    assert_eq!(field(&response, "type"), JsValue::from("error"));
}

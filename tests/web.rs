//! The driver in a browser: what it sends, tells, aborts and leaves behind.
#![cfg(target_family = "wasm")]

#[path = "common/browser.rs"]
mod browser;

use std::rc::Rc;

use browser::{Page, SEGMENT, field, record};
use js_sys::{Array, Function};
use wasm_bindgen::prelude::*;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};
use web_sys::{Request, RequestInit, Response};

wasm_bindgen_test_configure!(run_in_browser);

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
    assert_eq!(page.fixture.heard(), "sent accept");
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
    assert_eq!(page.fixture.heard(), "sent cut");
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
    let running = page.fixture.adopted();
    page.start_with(1, "/media".into(), None, Some((running, 1.0)));
    page.until("accept", 1).await;
    assert_eq!(page.fixture.heard(), "accept", "JavaScript has sent it");
    assert_eq!(page.fetches().length(), 0);
    assert_eq!(record(&Array::from(&page.driver.log()).get(1))[..2], [1.0, 1.0]);
}

#[wasm_bindgen_test]
async fn an_adopted_attempt_is_aborted_through_its_own_controller() {
    let page = Page::open();
    let running = page.fixture.adopted();
    page.start_with(1, "/media".into(), None, Some((running, 1.0)));
    page.driver.abort(1);
    let signal = field(&field(&page.fixture, "controller"), "signal");
    assert!(field(&signal, "aborted").is_truthy());
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
    page.until("cut", 1).await;
    assert_eq!(page.fixture.heard(), "sent accept cut");
    assert_eq!(page.fixture.timer_count(), 0);
}

#[wasm_bindgen_test]
async fn closing_aborts_what_is_under_way_and_leaves_no_timer() {
    let page = Page::open().meets("hang").answers(503);
    page.start(1);
    page.start(2);
    page.until("cut", 1).await;
    page.driver.close();
    assert_eq!(page.fixture.timer_count(), 0);
    assert_eq!(page.aborted(), [true, true]);
    let heard = page.fixture.heard();
    page.sleep(300).await;
    assert_eq!(page.fixture.heard(), heard);
    assert_eq!((page.fixture.timer_count(), page.fetches().length()), (0, 2));
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
    page.start_with(1, "/media".into(), Some(other), None);
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
    page.start_with(1, request.into(), None, None);
    page.until("accept", 1).await;
    for fetch in page.fetches().iter() {
        let sent = field(&fetch, "input").unchecked_into::<Request>();
        let body = wasm_bindgen_futures::JsFuture::from(sent.text().expect("unread")).await;
        assert_eq!(body.expect("a body"), JsValue::from("challenge"));
    }
}

#[wasm_bindgen_test]
async fn an_error_response_is_final() {
    let page = Page::open().answers(0);
    page.start(1);
    page.until("fail", 1).await;
    assert_eq!(record(&told(&page, "fail", 0, 1))[..3], [12.0, 4.0, 0.0]);
}

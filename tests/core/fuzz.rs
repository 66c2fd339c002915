//! A quick form of `npm run fuzz`: the same scripts out of random bytes, without a fuzzer to steer
//! them.

use proptest::collection::vec;
use proptest::prelude::*;

#[path = "../fuzz/engine.rs"]
mod engine;

proptest! {
    #![proptest_config(ProptestConfig {
        cases: if std::env::var_os("HOLDFAST_QUICK").is_some() { 100 } else { 2_000 },
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn whatever_happens_the_engine_comes_to_rest_and_ends_each_request_once(
        bytes in vec(any::<u8>(), 0..800),
    ) {
        engine::run(&bytes);
    }
}

//! A table that stands for itself: bandwidth samples.

use holdfast::core::{Estimator, EstimatorConfig};
use serde_json::Value;

fn read(text: &str) -> Value {
    serde_json::from_str(text).expect("a vector file is JSON")
}

fn cases(value: &Value) -> &[Value] {
    value["cases"].as_array().expect("a vector file has cases")
}

fn sampled(config: EstimatorConfig, samples: &Value) -> Estimator {
    let mut estimator = Estimator::new(config);
    for sample in samples.as_array().expect("samples") {
        let number = |place: usize| sample[place].as_f64().expect("a number");
        estimator.sample(number(0), number(1));
    }
    estimator
}

fn assert_near(found: Option<f64>, expected: &Value, case: &Value) {
    let expected = expected.as_f64().expect("a number");
    let found = found.unwrap_or_else(|| panic!("no estimate for {case}"));
    assert!((found - expected).abs() <= 1e-6 * expected, "{found} for {case}");
}

#[test]
fn the_estimate_of_the_shaka_pair_is_that_of_its_players() {
    let vectors = read(include_str!("../vectors/ewma.json"));
    let table = &vectors["spf_shaka"];
    let number = |name: &str| table[name].as_f64().expect("a number");
    let config = EstimatorConfig::SPF;
    assert_eq!(config.fast_half_life, number("fastHalfLifeS"));
    assert_eq!(config.slow_half_life, number("slowHalfLifeS"));
    assert_eq!(config.min_bytes, number("minBytes"));
    assert_eq!(config.min_total_bytes, number("minTotalBytes"));
    for case in cases(table) {
        let estimate = sampled(config, &case["samples"]).estimate();
        if case["good"] == false {
            assert_eq!(estimate, None, "the default is kept: {case}");
        } else {
            assert_near(estimate, &case["estimate"], case);
        }
    }
}

#[test]
fn the_estimate_of_the_hls_js_pair_is_that_of_its_player() {
    let vectors = read(include_str!("../vectors/ewma.json"));
    for case in cases(&vectors["hlsjs"]) {
        let half_life = |name: &str| case[name].as_f64().expect("a number");
        let config = EstimatorConfig {
            fast_half_life: half_life("fast"),
            slow_half_life: half_life("slow"),
            ..EstimatorConfig::HLS_JS
        };
        let samples = case["samples"].as_array().expect("samples");
        let estimates = case["estimates"].as_array().expect("estimates");
        for (seen, expected) in (1..).zip(estimates) {
            let first = Value::from(samples[..seen].to_vec());
            assert_near(sampled(config, &first).estimate(), expected, case);
        }
    }
}

#[test]
fn an_estimator_that_has_seen_nothing_has_no_estimate() {
    for config in [EstimatorConfig::SPF, EstimatorConfig::HLS_JS] {
        assert_eq!(Estimator::new(config).estimate(), None);
    }
}

#[test]
fn r64_bytes_of_retries_are_counted_apart_and_move_no_estimate() {
    let mut estimator = Estimator::new(EstimatorConfig::SPF);
    estimator.sample(1_000.0, 128_000.0);
    let before = estimator.estimate();
    estimator.exclude(5_000_000.0);
    assert_eq!(estimator.estimate(), before);
    assert_eq!(estimator.excluded_bytes(), 5_000_000.0);
}

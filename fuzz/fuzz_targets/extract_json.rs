#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| towpath_fuzz::extract_json::check(bytes));

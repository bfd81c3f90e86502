#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| towpath_fuzz::correction_rules::check(bytes));

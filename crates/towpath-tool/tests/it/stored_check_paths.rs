//! A stored check finds its text again wherever the tool is installed: its pattern has no path of this
//! machine, however the install's own is spelled in the output.

use proptest::prelude::*;
use towpath_tool::{Observation, OutputPattern, Probe, ProcessEnd, clean_text, verify_section};

const INSTALLS: &[&str] = &[
    "/home/me/.local/share/towpath/tools/.installs/heron5.4/5.4.4-3-1",
    "/srv/john doe/tools/.installs/heron5.4/5.4.4-3-1/",
    "/data/heron5.4/7",
];

/// Spellings of the install's path, as a whole or in part.
fn spelled(install: &str, spelling: usize) -> String {
    let install = install.trim_end_matches('/');
    let parts: Vec<&str> = install.split('/').collect();
    match spelling {
        0 => install.to_owned(),
        1 => format!("{install}/"),
        2 => format!("{install}/root/usr/bin/heron5.4"),
        3 => format!("{install}/lib/rules.txt"),
        4 => parts[parts.len() - 2..].join("/") + "/root/usr/bin/heron5.4",
        5 => regex::escape(install),
        6 => format!("file://{install}/share"),
        7 => format!("-I{install}/include"),
        8 => install.replacen('/', "//", 1),
        _ => format!("'{install}'"),
    }
}

const LINES: &[&str] = &[
    "usage: PATH [options] FILE",
    "Usage:\n  PATH [options]",
    "heron5.4 (PATH) version 5.4.4",
    "PATH: heron5.4 5.4.4",
    "heron5.4: PATH: unrecognized option '--version'",
    "PATH: unrecognized option '--version'",
    "unknown option --version of PATH",
    "Options:\n  -a  PATH\n  -b  both\n  -c  check",
    "PATH heron5.4 [-a] [-b]\nheron5.4 [-c] PATH",
    "heron5.4 5.4.4 in PATH",
    "Heron 5.4.4\nCopyright 2020 PATH",
];

/// Parts of the install's path that no stored pattern may have.
fn forbidden(install: &str) -> Vec<String> {
    let install = install.trim_end_matches('/');
    let counter = install.rsplit('/').next().unwrap();
    let parts = [format!("{counter}/"), format!("/{counter}"), install.to_owned()];
    let escaped = |part: &String| regex::escape(part).replace('/', r"\x2f");
    parts.iter().map(escaped).chain(parts.clone()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_stored_pattern_has_no_path_of_the_install_and_matches_again(
        install in 0..INSTALLS.len(), spelling in 0..10_usize, line in 0..LINES.len(),
        second in 0..LINES.len(), exit in 0..3_i32, other in "[ -~]{0,12}",
    ) {
        let install = INSTALLS[install];
        let text = format!("{}\n{other}\n{}\n", LINES[line], LINES[second]);
        let stdout = text.replace("PATH", &spelled(install, spelling));
        let run = Observation::new("heron5.4", &["--version"], ProcessEnd::Exited(exit));
        let install_path = Some(install.to_owned());
        let probe = Probe::new(Observation { stdout: stdout.clone(), install_path, ..run });
        let section = verify_section(&probe.observation, &probe.judgement);
        if let Some(pattern) = section.and_then(|section| section.pattern) {
            for part in forbidden(install) {
                prop_assert!(!pattern.contains(&part), "{part:?} is in {pattern:?} of {stdout:?}");
            }
            let found = OutputPattern::new(&pattern).expect("a pattern").find(&clean_text(&stdout), None);
            prop_assert!(found.is_some(), "{pattern:?} in {stdout:?}");
        }
    }
}

#[test]
fn a_path_is_a_wildcard_and_the_rest_of_the_line_stays() {
    for (line, pattern) in [
        ("usage: /opt/heron/5.4-1/bin/heron [options]", r"/usage: \S*heron /"),
        ("usage: heron -I/usr/include <file>", r"/usage: heron \-I\S* /"),
        ("usage: heron input/output <file>", "usage: heron input/output "),
        ("usage: heron https://example.org <file>", "usage: heron https://example.org "),
    ] {
        let run = Observation::new("heron", &["--help"], ProcessEnd::Exited(0));
        let probe = Probe::new(Observation { stdout: format!("{line}\n"), ..run });
        assert_eq!(probe.judgement.pattern.as_deref(), Some(pattern), "{line}");
    }
}

//! From probes to a stored check: the evaluator, the analysis, the ladder and the verdict on a tool.

use crate::verdict_cases::{observation, rows};
use towpath_tool::{
    CheckFailure, CheckOutcome, Observation, Probe, ProcessEnd, REPAIRED_REASON, RepairMethod,
    Verdict, VerifyMode, VerifySection, analyze, check, combine, next_probe, verify_section,
};

fn run(arguments: &[&str], exit: i32, stdout: &str) -> Observation {
    let observation = Observation::new("rg", arguments, ProcessEnd::Exited(exit));
    Observation { stdout: stdout.to_owned(), ..observation }
}

fn by_version(pattern: Option<&str>) -> VerifySection {
    VerifySection { pattern: pattern.map(str::to_owned), ..VerifySection::by_version("rg") }
}

#[test]
fn a_check_passes_on_its_evidence_alone() {
    let passes = |section: &VerifySection, run: &Observation| {
        check(section, Some(run), Some("1.2.3")).passed()
    };
    assert!(passes(&by_version(None), &run(&["--version"], 0, "rg 1.2.3\n")));
    assert!(passes(&by_version(Some("rg {version}")), &run(&["--version"], 0, "rg 1.2.3\n")));
    for (exit, text) in [(0, ""), (0, "hello\n"), (1, "rg 1.2.3\n"), (0, "RG 1.2.3\n")] {
        assert!(
            !passes(&by_version(Some("rg {version}")), &run(&["--version"], exit, text)),
            "{text}"
        );
    }
    let section =
        VerifySection { mode: VerifyMode::Output, exit_code: 2, ..by_version(Some("usage: rg")) };
    assert!(passes(&section, &run(&["--version"], 2, "usage: rg [x]\n")));
    assert!(!passes(&section, &run(&["--version"], 2, "Usage: rg [x]\n")));
}

#[test]
fn a_check_without_a_result_fails() {
    let section = by_version(None);
    assert_eq!(check(&section, None, None), CheckOutcome::Failed(CheckFailure::NotRun));
    let killed = Observation { end: ProcessEnd::Signaled(9), ..run(&[], 0, "rg 1.2.3") };
    assert!(!check(&section, Some(&killed), None).passed());
}

#[test]
fn a_broken_install_fails_although_its_pattern_matches() {
    let text = "rg 1.2.3\nrg: error while loading shared libraries: liba.so: cannot open\n";
    let outcome = check(&by_version(None), Some(&run(&["--version"], 0, text)), Some("1.2.3"));
    assert!(matches!(outcome, CheckOutcome::Failed(CheckFailure::Broken(_))), "{outcome:?}");
}

#[test]
fn another_version_passes_with_a_warning() {
    let outcome =
        check(&by_version(None), Some(&run(&["--version"], 0, "rg 1.2.30\n")), Some("1.2.3"));
    let CheckOutcome::Passed { version, warning } = outcome else { panic!("{outcome:?}") };
    assert_eq!(version.as_deref(), Some("1.2.30"));
    assert_eq!(warning.unwrap().to_string(), "version 1.2.3 was expected, 1.2.30 is printed");
}

#[test]
fn the_stored_check_of_every_case_passes_on_its_own_run() {
    for row in rows() {
        let observation = observation(&row);
        let analysis = analyze(&observation);
        let section = verify_section(&observation, &analysis.judgement);
        assert_eq!(section.is_some(), analysis.judgement.verdict.works(), "{}", row["id"]);
        if let Some(section) = section {
            let outcome = check(&section, Some(&observation), None);
            assert!(outcome.passed(), "{}: {section:?} {outcome:?}", row["id"]);
        }
    }
}

#[test]
fn the_signs_of_the_design_are_as_the_cases_note_them() {
    for row in rows() {
        let analysis = analyze(&observation(&row));
        let repairable = matches!(analysis.exit_code, Some(1 | 2)) && analysis.has_usage_text;
        let decision = if repairable { "repairable" } else { "not" };
        let all_four = repairable && analysis.has_tool_name && analysis.output_length > 200;
        assert_eq!(row["seed_rule"], decision, "{}", row["id"]);
        assert_eq!(row["seed_all_four"], all_four, "{}", row["id"]);
    }
}

#[test]
fn the_analysis_has_the_fields_of_the_design() {
    let json = serde_json::to_value(analyze(&run(&["--version"], 2, "usage: rg [x]\n"))).unwrap();
    for (field, value) in [
        ("repairable", "true"),
        ("tool_name", "\"rg\""),
        ("exit_code", "2"),
        ("has_usage_text", "true"),
        ("has_tool_name", "true"),
        ("output_length", "14"),
        ("suggested_mode", "\"output\""),
        ("suggested_pattern", "\"usage: rg \""),
        ("verdict", "\"works-by-help\""),
    ] {
        assert_eq!(json[field].to_string(), value, "{field}");
    }
}

/// The arguments that the ladder asks for when a tool answers like this.
fn ladder(answers: &[(&[&str], i32, &str)]) -> Vec<String> {
    let probes: Vec<Probe> = answers
        .iter()
        .map(|(arguments, exit, text)| Probe::new(run(arguments, *exit, text)))
        .collect();
    next_probe("rg", &probes).map(|request| request.arguments).unwrap_or_default()
}

#[test]
fn the_ladder_ends_with_a_version_and_tries_bare_words_only_when_advertised() {
    let silent = |argument: &'static [&'static str]| (argument, 1, "");
    assert_eq!(ladder(&[]), ["--version"]);
    assert_eq!(ladder(&[(&["--version"], 0, "rg 1.2.3")]), [""; 0]);
    assert_eq!(ladder(&[silent(&["--version"])]), ["-V"]);
    let three = [silent(&["--version"]), silent(&["-V"]), silent(&["-version"])];
    assert_eq!(ladder(&three), ["--help"]);
    let help = (
        &["--version"][..],
        1,
        "usage: rg [x]\n\nCommands:\n  run      run it\n  version  print it\n",
    );
    assert_eq!(ladder(&[help, silent(&["-V"]), silent(&["-version"])]), ["version"]);
    let five = [three[0], three[1], three[2], silent(&["--help"]), silent(&["-h"])];
    assert_eq!(ladder(&five), [""; 0]);
}

#[test]
fn a_subcommand_is_asked_through_its_host_at_last() {
    let arguments = [["--version"], ["-V"], ["-version"], ["--help"], ["-h"]];
    let probe = |a: &[&str]| Probe::new(Observation::new("cargo-x", a, ProcessEnd::Exited(1)));
    let probes: Vec<Probe> = arguments.iter().map(|a| probe(a)).collect();
    let request = next_probe("cargo-x", &probes).expect("one more");
    assert_eq!(
        (request.host, request.arguments),
        (Some("cargo"), vec!["x".into(), "--version".into()])
    );
}

#[test]
fn the_strongest_probe_decides_and_a_broken_one_above_all() {
    let rejected = Probe::new(run(&["--version"], 2, "unknown option --version\n"));
    let help = Probe::new(run(&["--help"], 0, "usage: rg [x]\n"));
    let broken = Probe::new(run(&["-V"], 1, "ImportError: No module named x\n"));
    let verdict = combine(&[rejected.clone(), help.clone()]);
    assert_eq!(verdict.verdict, Verdict::WorksByHelp);
    let original = VerifySection::by_version("rg");
    let (repaired, metadata) = verdict.repair(&original).expect("it can be repaired");
    assert_eq!(metadata.method, RepairMethod::FallbackHelp);
    assert_eq!(
        (metadata.original.as_str(), metadata.repaired.as_str()),
        ("rg --version", "rg --help")
    );
    assert_eq!(repaired.reason.as_deref(), Some(REPAIRED_REASON));
    let alive = combine(std::slice::from_ref(&rejected));
    assert_eq!((alive.verdict, alive.warnings.len()), (Verdict::Alive, 1));
    assert!(alive.verify.is_some());
    assert_eq!(combine(&[help, broken, rejected]).verdict, Verdict::Broken);
    assert_eq!(combine(&[]).verdict, Verdict::Unknown);
}

#[test]
fn only_a_listed_subcommand_advertises_a_bare_word() {
    let suggested = |text: &str| {
        let help = Probe::new(run(&["--help"], 0, &format!("Usage: rg COMMAND\n{text}\n")));
        help.judgement.next_probe
    };
    let listed = ["  version   Print the version", "  version", "  build  check  version  watch"];
    for text in listed {
        assert_eq!(suggested(text).as_deref(), Some("rg version"), "{text}");
    }
    let described =
        [" -v\t\tversion", "version: see the manual", "  Version   of the file", "version"];
    for text in described {
        assert_ne!(suggested(text).as_deref(), Some("rg version"), "{text}");
        assert_ne!(suggested(text).as_deref(), Some("rg Version"), "{text}");
    }
    assert_eq!(suggested("  -V   print version").as_deref(), Some("rg -V"));
    assert_eq!(suggested("  -v   print version").as_deref(), Some("rg -v"));
    assert_eq!(suggested("  -v   invert the match of a version"), None);
}

/// Probes of a tool with the expected version 2.30.0: what it was asked for, its exit code, what it printed.
fn verdict_of(tool: &str, answers: &[(&str, i32, &str)]) -> Verdict {
    let probes = answers.iter().map(|(argument, exit, text)| {
        let run = Observation::new(tool, &[argument], ProcessEnd::Exited(*exit));
        let expected_version = Some("2.30.0".to_owned());
        Probe::new(Observation { stdout: (*text).to_owned(), expected_version, ..run })
    });
    combine(&probes.collect::<Vec<_>>()).verdict
}

#[test]
fn another_program_under_the_name_is_not_the_tool_although_its_help_repeats_the_name() {
    let units =
        "GNU Units version 2.22\nwith readline, with utf8, locale C\n\nCopyright (C) 2022\n";
    let usage =
        "Usage: bedtools [options] ['from-unit' 'to-unit']\n\nOptions:\n  -h, --help  help\n";
    let rejection = "/opt/bedtools: invalid option -- 'i'\nTry 'bedtools --help'.\n";
    let chess = "GNU Chess 6.2.7\nCopyright (C) 2020\n\nUsage: /opt/bin/bedtools [OPTION]...\n";
    let coreutils = "true (GNU coreutils) 9.1\nCopyright (C) 2022\n";
    let shell = "NOTE: your shell may have its own version of bedtools\n";
    let prettier = "Usage: prettier [options]\n\nOptions:\n  -a  all\n  -b  both\n  -c  check\n";
    for answers in [
        &[("--version", 0, units), ("-version", 1, rejection), ("--help", 0, usage)][..],
        &[("--version", 0, coreutils), ("-V", 0, ""), ("--help", 0, &format!("{usage}{shell}"))],
        &[("--version", 0, "GNU Chess 6.2.7\n"), ("-V", 1, chess)],
        &[("--version", 1, chess)],
        &[("--version", 0, units), ("-V", 0, "bedtools 2.22\n")],
        &[("--version", 1, ""), ("--help", 0, prettier)],
        &[(
            "--version",
            1,
            "/opt/bedtools: invalid option -- '-'\nusage: pax [-0cd] [-f archive]\n",
        )],
    ] {
        assert_eq!(verdict_of("bedtools", answers), Verdict::Unknown, "{answers:?}");
    }
}

/// The verdict on a run of `odd --version`, and on the same under the name that no program has.
fn verdict_of_renamed(text: &str, renamed: &str) -> Verdict {
    let run = |tool: &str, text: &str| {
        let run = Observation::new(tool, &["--version"], ProcessEnd::Exited(0));
        let expected_version = Some("2.30.0".to_owned());
        let tool = "odd".to_owned();
        Probe::new(Observation { tool, stdout: text.to_owned(), expected_version, ..run })
    };
    let probes = [run("odd", text), run("qzxj", renamed)];
    assert_eq!(probes[1].judgement.verdict, Verdict::Unknown, "it proves nothing by itself");
    assert!(next_probe("odd", &probes).is_none_or(|request| !request.renamed));
    combine(&probes).verdict
}

#[test]
fn a_name_that_changes_with_the_name_of_the_program_is_an_echo() {
    let usage = "usage: /opt/bin/odd [options]\n  -x   another try\nTry `odd -h`.\n";
    let echo = "usage: /tmp/a/qzxj [options]\n  -x  another try\nTry `qzxj -h`.\n";
    assert_eq!(verdict_of_renamed(usage, echo), Verdict::Unknown);
    assert_eq!(verdict_of_renamed("odd 1.0.7\n", "qzxj 1.0.7\n"), Verdict::Unknown);
    // Its own name, another answer under another name, or none.
    for renamed in [usage, "qzxj: applet not found\n", "", "usage: qzxj (odd)\n"] {
        assert_eq!(verdict_of_renamed(usage, renamed), Verdict::WorksByHelp, "{renamed}");
    }
}

#[test]
fn an_answer_of_another_program_does_not_hide_the_tool() {
    let usage = "Usage: bedtools <subcommand> [options]\n";
    for (answers, verdict) in [
        // A script passes its arguments to a program that it starts.
        (
            &[("--version", 1, "dirname: unrecognized option '--version'\n"), ("--help", 0, usage)],
            { Verdict::WorksByHelp },
        ),
        // The version in the program is older than the package's.
        (&[("--version", 0, "2.29.1\n"), ("--help", 0, usage)], Verdict::WorksByHelp),
        (
            &[("--version", 0, "Perl 5.36.0\n"), ("-V", 0, "bedtools v2.30.0\n")],
            Verdict::WorksByVersion,
        ),
    ] {
        assert_eq!(verdict_of("bedtools", answers), verdict, "{answers:?}");
    }
}

#[test]
fn a_name_that_belongs_to_the_tool_is_not_another_program() {
    let help = "usage: getcaps [opts] <pid>\n\nOptions:\n  -a  all\n  -b  both\n  -c  check\n";
    for (tool, alias, argument, text, verdict) in [
        ("pg_config", "postgresql-common", "--version", "PostgreSQL 15.18\n", {
            Verdict::WorksByVersion
        }),
        ("gcc-nm", "gcc", "--version", "GNU nm (GNU Binutils) 2.40\n", Verdict::WorksByVersion),
        ("getpcaps", "libcap2-bin", "--help", help, Verdict::WorksByHelp),
        ("git-lfs", "git-lfs", "--version", "git version 2.39.5\n", Verdict::Unknown),
        ("bedtools", "bedtools", "--version", "GNU ed 1.19\n", Verdict::Unknown),
    ] {
        let run = Observation::new(tool, &[argument], ProcessEnd::Exited(0));
        let found = Probe::new(Observation {
            stdout: text.to_owned(),
            expected_version: Some("2.30.0".to_owned()),
            aliases: vec![alias.to_owned()],
            ..run
        });
        assert_eq!(found.judgement.verdict, verdict, "{tool}");
    }
}

//! What is learned from a log of 2,000 calls: the recorded error texts of real programs with what
//! fixed them, failures that are no mistakes, and mistakes whose fix would break calls that work.

use crate::classify_error_texts::{Sample, samples};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use towpath_corrections::failure::{
    Learning, Mistake, Proposal, RecordedCall, Suggestions, judge, suggest,
};
use towpath_corrections::{Correction, NewRule, RuleIndex, RuleKind, ToolCall, correct};

const CALLS: usize = 2_000;

/// Numbers that look random and are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }

    fn of<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// A call without its session and time.
#[derive(Clone)]
struct Entry {
    call: ToolCall,
    /// The exit code and the text of a call that failed.
    failure: Option<(i64, String)>,
}

fn succeeded(line: &str) -> Entry {
    Entry { call: bash(line), failure: None }
}

fn failed(line: &str, exit_code: i64, text: &str) -> Entry {
    Entry { failure: Some((exit_code, text.to_owned())), ..succeeded(line) }
}

fn bash(line: &str) -> ToolCall {
    ToolCall::claude_code("Bash", json!({ "command": line }))
}

/// A mistake with what is run instead, and how it is worded.
struct Lesson {
    sample: Sample,
    /// A call that works, and that a rule for the mistake would change.
    works: Option<&'static str>,
}

fn lesson(command: &str, exit_code: i64, text: &str, fix: &str, works: &'static str) -> Lesson {
    let fix = (!fix.is_empty()).then(|| fix.to_owned());
    let sample = Sample {
        program: String::new(),
        version: "1".to_owned(),
        command: command.to_owned(),
        exit_code,
        text: text.to_owned(),
        mistake: None,
        fix,
    };
    Lesson { sample, works: (!works.is_empty()).then_some(works) }
}

/// What fails on one machine and works on another: an alias, a plugin, a newer version.
fn harmful() -> Vec<Lesson> {
    let git = "git: 'sync' is not a git command. See 'git --help'.";
    let cargo = "error: no such command: `lint`\n\nhelp: view all installed commands";
    let rg = "error: Found argument '--pcre' which wasn't expected, or isn't valid";
    let grep = "grep: invalid option -- 'k'\nUsage: grep [OPTION]... PATTERNS [FILE]...";
    let not_found = |name: &str| format!("bash: line 1: {name}: command not found");
    vec![
        lesson("python a.py", 127, &not_found("python"), "python3 a.py", "python b.py --fast"),
        lesson("pip list", 127, &not_found("pip"), "pip3 list", "pip install requests"),
        lesson("fd main", 127, &not_found("fd"), "fdfind main", "fd --type f"),
        lesson("git sync", 1, git, "git pull", "git sync --all"),
        lesson("cargo lint", 101, cargo, "cargo clippy", "cd shop && cargo lint"),
        lesson("rg --pcre x", 2, rg, "rg --pcre2 x", "rg --pcre '(?=a)' src"),
        lesson("grep -k x a.txt", 2, grep, "grep -i x a.txt", "grep -lk x src"),
        lesson(
            "docker compose up",
            1,
            "docker: unknown command: docker compose\n\nRun 'docker --help' for more information",
            "docker-compose up",
            "docker compose logs web",
        ),
        lesson(
            "pip3 install --break-system-packages x",
            2,
            "no such option: --break-system-packages",
            "pip3 install x",
            "pip3 install --break-system-packages y",
        ),
        lesson(
            "kubectl neat pods",
            1,
            "Error: unknown command \"neat\" for \"kubectl\"",
            "kubectl get pods",
            "kubectl get pod a -o yaml | kubectl neat",
        ),
        lesson(
            "gh pr checks --watching",
            1,
            "unknown flag: --watching\n\nUsage:  gh pr checks [flags]",
            "gh pr checks --watch",
            "gh pr checks 12 --watching",
        ),
        lesson(
            "ls --hyper",
            2,
            "ls: unrecognized option '--hyper'\nTry 'ls --help' for more information.",
            "ls --hyperlink",
            "ls src --hyper",
        ),
    ]
}

/// What has no other word in the position of the mistake.
fn whole_lines() -> Vec<Lesson> {
    let wait = "until gt mol status | grep -q signal; do sleep 5; done";
    vec![
        lesson(
            "gt await-signal",
            1,
            "Error: unknown command \"await-signal\" for \"gt\"",
            wait,
            "",
        ),
        lesson(
            "bd list --wisp",
            1,
            "Error: unknown flag: --wisp\nUsage:\n  bd list [flags]",
            "bd list | grep -i wisp",
            "",
        ),
        lesson(
            "gh run list --format json",
            1,
            "unknown flag: --format\n\nUsage:  gh run list [flags]",
            "gh run list --json status",
            "",
        ),
    ]
}

/// Commands that work and have to do with no mistake.
const USUAL: &[&str] = &[
    "ls -la",
    "cat README.md",
    "git status",
    "git diff --stat",
    "git log --oneline -5",
    "cargo test -p shop",
    "npm run build",
    "npm test",
    "grep -rn TODO src",
    "sed -n 1,20p a.txt",
    "find . -name '*.rs'",
    "docker ps",
    "kubectl get pods -n shop",
    "python3 -m pytest -q",
    "pip3 show requests",
    "make all",
    "jq .name package.json",
    "curl -sS https://example.com",
    "cd src && ls",
    "echo done",
    "mkdir -p a/b",
    "head -20 a.txt",
    "gh pr view 12",
    "terraform plan -out x",
    "uv pip list",
    "ruff check .",
    "pre-commit run",
    "git add -A",
    "git commit -m 'a message'",
    "ps aux | head",
    "systemctl status nginx",
    "rg main src",
];

/// Failures of commands that are right.
fn no_mistakes() -> Vec<Entry> {
    let mut entries: Vec<Entry> = samples()
        .iter()
        .filter(|sample| sample.mistake.is_none())
        .map(|sample| failed(&sample.command, sample.exit_code, &sample.text))
        .collect();
    entries.extend([
        failed(
            "cargo test",
            101,
            "test a::b ... FAILED\n\nerror: test failed, to rerun pass `--lib`",
        ),
        failed("npm test", 1, "  1 failing\n\n  Error: expected 1 to equal 2"),
        failed("pytest -q", 1, "E   AssertionError: unknown option: --fast\n1 failed in 0.2s"),
        failed(
            "make check",
            2,
            "sh: 1: protoc: not found\nmake: *** [Makefile:3: check] Error 127",
        ),
        failed("./build.sh", 127, "./build.sh: line 3: cmake: command not found"),
        failed("curl https://example.com", 6, "curl: (6) Could not resolve host: example.com"),
        failed("git pull", 1, "fatal: unable to access: Could not resolve host: github.com"),
        failed("grep -q nothing a.txt", 1, ""),
        failed("test -f missing", 1, ""),
        failed("rustc --version --verbose | grep nightly", 1, ""),
        failed("git merge main", 1, "CONFLICT (content): Merge conflict in a.txt"),
        failed("python3 a.py --x", 1, "ValueError: invalid choice: 'y'"),
    ]);
    entries
}

struct Log {
    calls: Vec<RecordedCall>,
    /// Each mistake that must be proposed, with the lines it was typed in and what fixed each.
    mistakes: BTreeMap<Mistake, Vec<Sample>>,
    harmful: BTreeSet<Mistake>,
}

/// The calls of each session, by its name.
type Sessions = BTreeMap<String, Vec<Entry>>;

fn mistake_of(sample: &Sample) -> Mistake {
    let call = recorded(&failed(&sample.command, sample.exit_code, &sample.text), "s", 0);
    let label = sample.mistake.clone();
    label.or_else(|| call.mistake()).unwrap_or_else(|| panic!("{}", sample.command))
}

/// A mistake in a session: the failed call, others, and what fixed it, if that is known.
fn add_mistake(sessions: &mut Sessions, session: String, sample: &Sample, random: &mut Random) {
    let text = format!("Exit code {}\n{}", sample.exit_code, sample.text);
    let entries = sessions.entry(session).or_default();
    entries.push(failed(&sample.command, sample.exit_code, &text));
    for _ in 0..random.below(2) {
        entries.push(succeeded(random.of::<&str>(USUAL)));
    }
    // One in five tries is given up.
    if let Some(fix) = sample.fix.as_ref().filter(|_| random.below(5) > 0) {
        entries.push(succeeded(fix));
    }
}

fn log() -> Log {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut sessions = Sessions::new();
    let mut mistakes: BTreeMap<Mistake, Vec<Sample>> = BTreeMap::new();
    let mut harmful_ones = BTreeSet::new();
    let recorded_samples = samples().into_iter().filter(|s| s.mistake.is_some());
    let lessons = recorded_samples.map(|sample| Lesson { sample, works: None });
    let lessons: Vec<Lesson> = lessons.chain(whole_lines()).chain(harmful()).collect();
    let harms: BTreeSet<Mistake> =
        lessons.iter().filter(|l| l.works.is_some()).map(|l| mistake_of(&l.sample)).collect();
    for (number, lesson) in lessons.iter().enumerate() {
        let mistake = mistake_of(&lesson.sample);
        for at in 0..3 {
            let session = format!("{number:03}-{at}");
            add_mistake(&mut sessions, session, &lesson.sample, &mut random);
        }
        if harms.contains(&mistake) {
            harmful_ones.insert(mistake);
        } else {
            mistakes.entry(mistake).or_default().push(lesson.sample.clone());
        }
        if let Some(works) = lesson.works {
            sessions.entry(format!("works-{number}")).or_default().push(succeeded(works));
        }
    }
    fill(&mut sessions, &mut random);
    Log { calls: calls(&sessions), mistakes, harmful: harmful_ones }
}

/// Adds failures that are no mistakes, and calls that work, until there are 2,000 in all.
fn fill(sessions: &mut Sessions, random: &mut Random) {
    let others = no_mistakes();
    let count: usize = sessions.values().map(Vec::len).sum();
    let names: Vec<String> = sessions.keys().cloned().collect();
    assert!(count < CALLS - 500, "{count}");
    for _ in count..CALLS {
        let entry = match random.below(2) {
            0 => random.of(&others).clone(),
            _ => succeeded(random.of::<&str>(USUAL)),
        };
        let entries = sessions.get_mut(random.of(&names)).expect("a known session");
        entries.insert(random.below(entries.len() + 1), entry);
    }
}

fn recorded(entry: &Entry, session: &str, at_ms: i64) -> RecordedCall {
    let (exit_code, error) = entry.failure.clone().unwrap_or_default();
    RecordedCall {
        session: session.to_owned(),
        at_ms,
        call: entry.call.clone(),
        failed: entry.failure.is_some(),
        exit_code: entry.failure.as_ref().map(|_| exit_code),
        error,
    }
}

/// Sessions run at the same time.
fn calls(sessions: &Sessions) -> Vec<RecordedCall> {
    let mut all = Vec::new();
    for (index, (session, entries)) in sessions.iter().enumerate() {
        for (at, entry) in entries.iter().enumerate() {
            all.push(recorded(entry, session, (at * 1_000 + index) as i64));
        }
    }
    all
}

fn learned(calls: &[RecordedCall]) -> Suggestions {
    suggest(&Learning { calls, rules: &[], dismissed: &[], occurrences: 2 })
}

fn index(rule: &NewRule) -> RuleIndex {
    let rule = rule.clone().check(1, false).expect("a proposal is checked");
    RuleIndex::new(vec![rule])
}

/// Whether the rule writes what fixed the mistake, or refuses what nothing fixes.
fn is_right(proposal: &Proposal, sample: &Sample) -> bool {
    match (correct(&bash(&sample.command), &index(&proposal.rule)), &sample.fix) {
        (Correction::Rewritten(rewrite), Some(fix)) => rewrite.after == *fix,
        (Correction::Denied(_), None) => true,
        _ => false,
    }
}

#[test]
#[allow(clippy::print_stdout, reason = "the figures are shown with --nocapture")]
fn mistakes_are_proposed_and_nothing_that_harms() {
    let log = log();
    assert_eq!(log.calls.len(), CALLS);
    let suggestions = learned(&log.calls);
    let proposed: BTreeMap<&Mistake, &Proposal> =
        suggestions.proposals.iter().map(|p| (&p.evidence.mistake, p)).collect();
    let mut missed = Vec::new();
    for (mistake, samples) in &log.mistakes {
        let proposal = proposed.get(mistake);
        if !proposal.is_some_and(|p| samples.iter().all(|sample| is_right(p, sample))) {
            missed.push(format!("{mistake}: {:?}", proposal.map(|p| &p.rule)));
        }
    }
    let failures = log.calls.iter().filter(|call| call.failed).count();
    let all = log.mistakes.len();
    let right = all - missed.len();
    let harmful = proposed.keys().filter(|mistake| log.harmful.contains(**mistake)).count();
    println!("{} calls, {failures} failed", log.calls.len());
    println!("{right} of {all} mistakes proposed rightly ({} %)", right * 100 / all);
    println!("{harmful} of {} harmful ones proposed", log.harmful.len());
    println!("{} proposals in all", proposed.len());
    println!("not proposed rightly:\n{}", missed.join("\n"));
    assert!(right * 100 >= all * 80, "{right} of {all}");
    assert_eq!(harmful, 0);
    for mistake in proposed.keys() {
        assert!(log.mistakes.contains_key(*mistake), "no mistake: {mistake}");
    }
    for proposal in &suggestions.proposals {
        let index = index(&proposal.rule);
        for call in log.calls.iter().filter(|call| !call.failed) {
            assert_eq!(correct(&call.call, &index), Correction::Unchanged, "{:?}", proposal.rule);
        }
    }
}

/// The lines of a session in their order; a text is what the line before it failed with.
fn session(name: &str, lines: &[(&str, &str)]) -> Vec<RecordedCall> {
    let entry = |(line, text): &(&str, &str)| match text.is_empty() {
        true => succeeded(line),
        false => failed(line, 1, text),
    };
    let entries = lines.iter().map(entry).enumerate();
    entries.map(|(at, entry)| recorded(&entry, name, at as i64)).collect()
}

const UNKNOWN: &str = "Error: unknown flag: --assign\nUsage:\n  bd update [flags]";

fn assigned() -> Vec<RecordedCall> {
    let lines = [("bd update 1 --assign me", UNKNOWN), ("bd update 1 --assignee me", "")];
    [session("a", &lines), session("b", &lines)].concat()
}

#[test]
fn a_proposal_has_what_led_to_it() {
    let suggestions = learned(&assigned());
    let [proposal] = suggestions.proposals.as_slice() else { panic!("{suggestions:?}") };
    let flag = RuleKind::Flag {
        command: "bd update".to_owned(),
        from: "--assign".to_owned(),
        to: "--assignee".to_owned(),
        valued: String::new(),
    };
    assert_eq!(proposal.rule.kind, flag);
    let evidence = &proposal.evidence;
    assert_eq!((evidence.occurrences, evidence.sessions, proposal.recovered), (2, 2, 2));
    assert_eq!(evidence.commands, ["bd update 1 --assign me"]);
    assert_eq!((proposal.back_test.changed, proposal.back_test.prevented), (2, 2));
    let [change] = proposal.back_test.examples.as_slice() else { panic!("one example") };
    assert_eq!(change.after.as_deref(), Some("bd update 1 --assignee me"));
}

#[test]
fn what_was_dismissed_or_is_ruled_does_not_return() {
    let calls = assigned();
    let rule = learned(&calls).proposals.remove(0).rule;
    let dismissed = [rule.kind.key()];
    let learning = Learning { calls: &calls, rules: &[], dismissed: &dismissed, occurrences: 2 };
    assert_eq!(suggest(&learning), Suggestions::default());
    let rules = [rule.check(1, false).expect("a proposal is checked")];
    let learning = Learning { rules: &rules, dismissed: &[], ..learning };
    assert_eq!(suggest(&learning), Suggestions::default());
    let learning = Learning { rules: &[], occurrences: 3, ..learning };
    assert_eq!(suggest(&learning), Suggestions::default());
}

#[test]
fn a_tool_of_another_host_is_proposed_for_the_host_that_lacks_it() {
    let call = |host: &str, tool: &str, error: &str, at_ms| RecordedCall {
        session: host.to_owned(),
        at_ms,
        call: ToolCall {
            host: host.to_owned(),
            ..ToolCall::claude_code(tool, json!({ "path": "a.txt" }))
        },
        failed: !error.is_empty(),
        exit_code: None,
        error: error.to_owned(),
    };
    let error = "<tool_use_error>Error: No such tool available: read_file</tool_use_error>";
    let calls = [
        call("claude-code", "read_file", error, 1),
        call("claude-code", "Read", "", 2),
        call("claude-code", "read_file", error, 3),
        call("gemini", "read_file", "", 4),
    ];
    let [proposal] = &learned(&calls).proposals[..] else { panic!("one proposal") };
    let (from, to) = ("read_file".to_owned(), "Read".to_owned());
    let host = "claude-code".to_owned();
    assert_eq!(proposal.rule.kind, RuleKind::ToolName { from, to, host });
    assert_eq!(proposal.back_test.changed, 2);
}

#[test]
fn an_option_that_makes_a_command_careful_is_never_dropped() {
    let error = |flag: &str| format!("unknown flag: {flag}");
    for (flag, dropped) in [("--dry-run", false), ("--no-delete", false), ("--loud", true)] {
        let line = format!("sync {flag} a b");
        let lines = [(line.as_str(), error(flag)), ("sync a b", String::new())];
        let lines: Vec<(&str, &str)> = lines.iter().map(|(l, e)| (*l, e.as_str())).collect();
        let calls = [session("a", &lines), session("b", &lines)].concat();
        let suggestions = learned(&calls);
        assert_eq!(suggestions.proposals.len(), usize::from(dropped), "{flag}");
        assert_eq!(suggestions.unanswered.len(), usize::from(!dropped), "{flag}");
    }
}

#[test]
fn one_session_alone_does_not_prove_another_word() {
    let error = "unknown flag: --everything";
    let lines = [("docker ps --everything", error), ("docker ps --all", "")];
    let once = session("a", &[lines, lines].concat());
    assert_eq!(learned(&once).proposals, []);
    let twice = [session("a", &lines), session("b", &lines)].concat();
    assert_eq!(learned(&twice).proposals.len(), 1);
}

#[test]
fn a_rule_that_was_written_for_a_mistake_is_checked_and_tested() {
    let mut calls = assigned();
    let evidence = learned(&calls).proposals.remove(0).evidence;
    let flag = |to: &str| NewRule {
        kind: RuleKind::Flag {
            command: "bd".to_owned(),
            from: "--assign".to_owned(),
            to: to.to_owned(),
            valued: String::new(),
        },
        message: None,
        directory: None,
    };
    assert!(judge(flag("--assignee"), &evidence, &calls).is_ok());
    assert!(judge(flag("--assign"), &evidence, &calls).is_err(), "it is checked");
    let other = NewRule {
        kind: RuleKind::Refuse { from: "bd list".to_owned(), option: String::new() },
        ..flag("--x")
    };
    let other = NewRule { message: Some("No.".to_owned()), ..other };
    assert!(judge(other, &evidence, &calls).is_err(), "it changes nothing");
    calls.extend(session("c", &[("bd list --assign me", "")]));
    let refused = judge(flag("--assignee"), &evidence, &calls).map(|_| ());
    assert_eq!(refused, Err("it would have changed 1 call that succeeded".to_owned()));
}

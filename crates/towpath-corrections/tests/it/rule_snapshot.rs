//! The flat file of rules: whatever a call is, the rules found in it correct the call as all rules
//! together do; a file that is not ours or is damaged is refused.

use crate::support::*;
use serde_json::json;
use std::path::PathBuf;
use towpath_corrections::host::{Mode, Permission};
use towpath_corrections::snapshot::{
    Paused, Snapshot, SnapshotContents, SnapshotError, SnapshotProject, Source, SourceState, Stamp,
};
use towpath_corrections::{Correction, Rule, RuleIndex, RuleKind, Scope, ToolCall, correct, merge};

fn user_rules(rules: Vec<Rule>) -> SnapshotContents {
    SnapshotContents { rules, ..SnapshotContents::default() }
}

/// The correction with the rules that are found in the file.
fn found(contents: &SnapshotContents, call: &ToolCall) -> (usize, Correction) {
    let bytes = contents.to_bytes();
    let snapshot = Snapshot::open(bytes.as_slice()).expect("a snapshot");
    let project = contents.projects.first().and_then(|p| snapshot.project(&p.root));
    let rules = snapshot.candidates(call, project).expect("rules");
    (rules.len(), correct(call, &RuleIndex::new(rules)))
}

#[test]
fn every_case_is_corrected_from_a_snapshot_as_from_all_rules() {
    for row in crate::correction_cases::rows() {
        let rules = rules_of(row["rules"].as_array().unwrap());
        let call = crate::correction_cases::call_of(&row);
        let all = correct(&call, &RuleIndex::new(rules.clone()));
        assert_eq!(found(&user_rules(rules), &call).1, all, "{}", row["id"]);
    }
}

#[test]
fn among_ten_thousand_rules_few_are_decoded() {
    let kinds = |n: usize| match n % 5 {
        0 => command(&format!("program{n}"), &format!("other{n}")),
        1 => recipe(&format!("git sub{n}"), "git status"),
        2 => flag("git", &format!("--flag{n}"), "--other"),
        3 => regex(&format!("needle{n} [0-9]+"), "x"),
        _ => literal("git", &format!("text{n}"), "other"),
    };
    let kinds: Vec<RuleKind> = (0..10_000).map(kinds).collect();
    let contents = user_rules(numbered(&kinds));
    let rows = [
        ("git sub11 && program20 'a'; git push --flag12", 3),
        ("g\\it su'b11'", 1),
        ("git log --oneline", 0),
        ("echo needle13 7", 1),
        ("git add text14", 1),
    ];
    for (line, applied) in rows {
        let (decoded, correction) = found(&contents, &bash_call(line));
        assert_eq!(correction, correct(&bash_call(line), &RuleIndex::new(numbered(&kinds))));
        let rewritten = match &correction {
            Correction::Rewritten(rewrite) => rewrite.applied.len(),
            _ => 0,
        };
        assert_eq!(rewritten, applied, "{line}");
        assert!(decoded <= 100, "{line}: {decoded}");
    }
    assert_eq!(found(&contents, &bash_call("ls -l")).0, 0);
}

#[test]
fn a_project_wins_over_the_user() {
    let project = |kind, number| Rule { scope: Scope::Project, ..rule(number, kind) };
    let user = numbered(&[command("grep", "rg"), command("ls", "eza")]);
    let own = vec![project(command("grep", "ugrep"), 7)];
    let contents = SnapshotContents {
        projects: vec![SnapshotProject {
            root: PathBuf::from("/p"),
            sources: Vec::new(),
            rules: own.clone(),
        }],
        ..user_rules(user.clone())
    };
    let call = bash_call("grep a | ls");
    let all = correct(&call, &RuleIndex::new(merge(user, own)));
    let (_, correction) = found(&contents, &call);
    assert_eq!(correction, all);
    let Correction::Rewritten(rewrite) = correction else { panic!() };
    assert_eq!(rewrite.after, "ugrep a | eza");
    let bytes = contents.to_bytes();
    let snapshot = Snapshot::open(bytes.as_slice()).unwrap();
    assert!(snapshot.project("/p".as_ref()).is_some());
    assert!(snapshot.project("/q".as_ref()).is_none());
}

fn whole() -> SnapshotContents {
    let stamp =
        Stamp { device: 1, inode: 2, size: 3, modified_ns: -4, changed_ns: 5, created_ns: Some(6) };
    let source = |path: &str, state| Source { path: path.into(), state };
    let mut recipe = rule(3, recipe("gt wait", "sleep 1"));
    if let RuleKind::Recipe { timeout, .. } = &mut recipe.kind {
        *timeout = Some(600);
    }
    SnapshotContents {
        paused: Paused::Until(-7),
        mode: Mode::Report,
        permission: Permission::Always,
        sources: vec![
            source("/a", SourceState::Absent),
            source("/b", SourceState::Stamped(stamp)),
            source("/c", SourceState::Unsettled),
            source("/d", SourceState::Identity { device: 1, inode: 2, created_ns: 6 }),
        ],
        rules: vec![rule(1, command("a", "b")), recipe],
        projects: vec![SnapshotProject {
            root: "/p".into(),
            sources: vec![source("/p/.towpath/rules.toml", SourceState::Stamped(stamp))],
            rules: vec![rule(2, regex("x", "y"))],
        }],
    }
}

#[test]
fn what_is_written_is_read() {
    let bytes = whole().to_bytes();
    let snapshot = Snapshot::open(bytes.as_slice()).unwrap();
    assert_eq!(snapshot.contents(), Ok(whole()));
}

#[test]
fn a_recipe_writes_its_timeout_from_a_snapshot() {
    let call = ToolCall::claude_code("Bash", json!({ "command": "gt wait", "timeout": 1 }));
    let contents = SnapshotContents { projects: Vec::new(), ..whole() };
    let Correction::Rewritten(rewrite) = found(&contents, &call).1 else { panic!() };
    assert_eq!(
        rewrite.input.to_string(),
        json!({ "command": "sleep 1", "timeout": 600_000 }).to_string()
    );
}

#[test]
fn a_damaged_file_is_refused_and_never_a_panic() {
    let bytes = whole().to_bytes();
    let call = bash_call("a; gt wait x");
    let read = |bytes: &[u8]| {
        let snapshot = Snapshot::open(bytes)?;
        snapshot.contents()?;
        snapshot.candidates(&call, snapshot.project("/p".as_ref())).map(drop)
    };
    assert_eq!(read(&bytes), Ok(()));
    for length in 0..bytes.len() {
        assert!(read(&bytes[..length]).is_err(), "{length}");
    }
    for at in 0..bytes.len() {
        for change in [0, 0xff, bytes[at] ^ 1] {
            let mut changed = bytes.clone();
            changed[at] = change;
            let _ = read(&changed);
        }
    }
    assert_eq!(read(b"something else altogether"), Err(SnapshotError::OtherFormat));
}

#[test]
fn a_pause_ends_at_its_time() {
    assert!(!Paused::No.is_paused(0) && Paused::UntilContinued.is_paused(i64::MAX));
    assert!(Paused::Until(5).is_paused(4) && !Paused::Until(5).is_paused(5));
}

#[test]
fn a_file_is_current_only_with_the_same_stamp() {
    let stamp =
        Stamp { device: 1, inode: 2, size: 3, modified_ns: 4, changed_ns: 5, created_ns: Some(6) };
    let others = [
        Stamp { inode: 9, ..stamp },
        Stamp { size: 9, ..stamp },
        Stamp { modified_ns: 9, ..stamp },
        Stamp { changed_ns: 9, ..stamp },
        Stamp { device: 9, ..stamp },
    ];
    let stamped = SourceState::Stamped(stamp);
    assert!(stamped.is_current(Some(&stamp)) && !stamped.is_current(None));
    assert!(others.iter().all(|other| !stamped.is_current(Some(other))));
    assert!(SourceState::Absent.is_current(None) && !SourceState::Absent.is_current(Some(&stamp)));
    assert!(
        !SourceState::Unsettled.is_current(Some(&stamp))
            && !SourceState::Unsettled.is_current(None)
    );
    let identity = SourceState::Identity { device: 1, inode: 2, created_ns: 6 };
    assert!(identity.is_current(Some(&others[1])) && !identity.is_current(Some(&others[0])));
    // Another file that has got the number of a removed one.
    assert!(!identity.is_current(Some(&Stamp { created_ns: Some(9), ..stamp })));
    assert!(!identity.is_current(Some(&Stamp { created_ns: None, ..stamp })));
}

//! Our entries in texts of all kinds: added, found, brought up to date, and removed to the byte.

use super::super::host_files::{Form, HOSTS, HostFiles, InstalledEvent, Scope};
use super::super::json_node::{Comments, parse};
use super::{only_events, only_ours, own_entries, with_ours, without_ours};
use crate::host::{HookEvent, Host};
use proptest::prelude::*;
use serde_json::{Value, json};

fn wanted(row: &HostFiles) -> Vec<(InstalledEvent, String)> {
    let command = |event: &InstalledEvent| {
        format!("/opt/towpath hook {} --host {}", event.event.name(), row.host.name())
    };
    row.events.iter().map(|event| (event.clone(), command(event))).collect()
}

fn installed(text: &str, host: Host) -> String {
    let row = HostFiles::of(host);
    with_ours(text, row, &wanted(row)).expect(text)
}

/// Installs, checks what every installation must be, and removes.
fn round_trip(text: &str, row: &HostFiles) {
    let wanted = wanted(row);
    let with = with_ours(text, row, &wanted).expect(text);
    let own = own_entries(&with, row).expect("it is read");
    assert_eq!(own.len(), wanted.len(), "{with}");
    assert_eq!(with_ours(&with, row, &wanted).as_deref(), Ok(with.as_str()), "a second time");
    assert_eq!(value(&with, row), expected(value(text, row), row, &wanted), "{with}");
    assert_eq!(without_ours(&with, row), Ok(Some(text.to_owned())), "{with}");
}

fn value(text: &str, row: &HostFiles) -> Value {
    parse(text, row.comments).expect("it is read").value(text)
}

/// What a text with our entries must mean, made without an edit of text.
fn expected(mut value: Value, row: &HostFiles, wanted: &[(InstalledEvent, String)]) -> Value {
    let members = value.as_object_mut().expect("an object");
    let hooks = members.entry("hooks").or_insert(json!({}));
    for (event, command) in wanted {
        let events = hooks.as_object_mut().expect("an object");
        let list = events.entry(event.name.clone()).or_insert(json!([]));
        list.as_array_mut().expect("a list").push(row.entry(command));
    }
    value
}

#[test]
fn an_entry_is_added_in_the_formatting_of_the_file() {
    let text = "{\n\t\"model\": \"opus\",\n\t\"hooks\": {\n\t\t\"Stop\": []\n\t}\n}\n";
    let row = HostFiles::of(Host::Codex);
    let one = &wanted(row)[..1];
    let expected = "{\n\t\"model\": \"opus\",\n\t\"hooks\": {\n\t\t\"Stop\": [],\n\
                    \t\t\"PreToolUse\": [\n\t\t\t{\n\t\t\t\t\"matcher\": \"*\",\n\
                    \t\t\t\t\"hooks\": [\n\t\t\t\t\t{\n\t\t\t\t\t\t\"type\": \"command\",\n\
                    \t\t\t\t\t\t\"command\": \"/opt/towpath hook pre --host codex\",\n\
                    \t\t\t\t\t\t\"timeout\": 10\n\t\t\t\t\t}\n\t\t\t\t]\n\t\t\t}\n\t\t]\n\t}\n}\n";
    assert_eq!(with_ours(text, row, one).as_deref(), Ok(expected));
}

#[test]
fn what_was_there_comes_back_to_the_byte() {
    for row in HOSTS.iter().filter(|row| row.form != Form::Plugin) {
        let pre = &row.events[0].name;
        for text in [
            "{}",
            "{ }\n",
            "{\n}\n",
            "\u{feff}{}",
            "{\"hooks\":{}}",
            "{\"version\":1}",
            "{\n  \"version\": 1\n}\n",
            "{\"version\":1,\"hooks\":{}}",
            "{\"hooks\": { }, \"version\": 1}",
            "{\"a\":1}",
            "{\r\n    \"a\": [1,\r\n2]\r\n}",
            "{\n  \"hooks\": {\n  },\n  \"a\": null\n}",
            &format!("{{\"hooks\":{{\"{pre}\":[]}}}}"),
            &format!("{{\n  \"hooks\": {{\n    \"{pre}\": [\n    ]\n  }}\n}}\n"),
            &format!("{{\"hooks\":{{\"{pre}\":[{{\"x\":1}}]}}}}"),
            &format!(
                "{{\n \"hooks\": {{\n  \"{pre}\": [\n   {{\n    \"x\": 1\n   }}\n  ]\n }}\n}}"
            ),
        ] {
            round_trip(text, row);
        }
    }
}

#[test]
fn comments_stay_where_they_are() {
    let row = HostFiles::of(Host::Gemini);
    for text in [
        "{ // all\n}",
        "// first\n{\n  \"a\": 1 // one\n  /* end */\n}\n// last",
        "{\n  \"a\": 1, // one\n}",
        "{\"a\":1 /* x */,}",
        "{\"a\":1, // one\n \"b\": [] // two\n}",
        "{\"hooks\": {\"BeforeTool\": [ // none\n]}}",
        "{\"hooks\": {\"BeforeTool\": [{} /* one */, /* two */ ]}}",
    ] {
        round_trip(text, row);
    }
    let with = installed("{\n  \"a\": 1 // one\n}", Host::Gemini);
    assert!(with.starts_with("{\n  \"a\": 1, // one\n  \"hooks\": {\n"), "{with}");
}

#[test]
fn a_file_that_only_we_wrote_is_gone_afterwards() {
    for row in HOSTS.iter().filter(|row| row.form != Form::Plugin) {
        for scope in [Scope::User, Scope::Project] {
            let text = only_ours(row, scope, &wanted(row));
            assert_eq!(own_entries(&text, row).map(|own| own.len()), Ok(row.events.len()));
            assert_eq!(with_ours(&text, row, &wanted(row)).as_deref(), Ok(text.as_str()));
            assert_eq!(without_ours(&text, row), Ok(None), "{text}");
        }
    }
}

#[test]
fn what_a_user_changed_in_our_entry_stays_and_a_moved_program_is_followed() {
    let text = installed("{}", Host::ClaudeCode).replace("\"timeout\": 10", "\"timeout\": 60");
    assert_eq!(installed(&text, Host::ClaudeCode), text);
    let moved = text.replace("/opt/towpath", "'/my programs/towpath'");
    assert_eq!(installed(&moved, Host::ClaudeCode), text);
}

#[test]
fn our_entry_in_a_group_of_another_owner_is_removed_alone() {
    let row = HostFiles::of(Host::ClaudeCode);
    let text = "{\"hooks\":{\"PreToolUse\":[{\"hooks\":[{\"command\":\"mine\"}, \
                {\"command\":\"towpath hook pre --host claude-code\"}]}]}}";
    let rest = "{\"hooks\":{\"PreToolUse\":[{\"hooks\":[{\"command\":\"mine\"}]}]}}";
    assert_eq!(without_ours(text, row), Ok(Some(rest.to_owned())));
    let of_another_host = text.replace("claude-code", "codex");
    assert_eq!(without_ours(&of_another_host, row), Ok(Some(of_another_host.clone())));
}

#[test]
fn what_has_another_shape_is_refused_with_its_position() {
    let row = HostFiles::of(Host::ClaudeCode);
    let refused = |text: &str| with_ours(text, row, &wanted(row)).expect_err(text);
    let error = refused("{\"hooks\": []}");
    assert_eq!(
        (error.at, error.message.as_str()),
        (10, "`hooks` is an array, and must be an object")
    );
    let error = refused("{\"hooks\": {\"PreToolUse\": 1}}");
    assert_eq!(error.message, "`hooks.PreToolUse` is a number, and must be an array");
    assert_eq!(refused("[]").message, "the file is an array, and must be an object");
}

#[test]
fn an_event_that_a_version_does_not_read_is_left_out() {
    let row = HostFiles::of(Host::ClaudeCode);
    let names = |scope, version| -> Vec<String> {
        row.events(scope, version).into_iter().map(|event| event.name).collect()
    };
    let basic = ["PreToolUse", "PostToolUse"];
    assert_eq!(names(Scope::User, None), basic);
    assert_eq!(names(Scope::User, Some((2, 1, 63))), basic);
    assert_eq!(names(Scope::Project, None), basic);
    assert_eq!(names(Scope::Project, Some((2, 1, 325))).len(), 4);
    assert_eq!(names(Scope::User, Some((2, 1, 119))).len(), 4);
    let all = installed("{\"a\": 1}", Host::ClaudeCode);
    let older = only_events(&all, row, &row.events(Scope::User, Some((2, 1, 63))));
    let older = older.expect("JSON").expect("text");
    let left: Vec<HookEvent> =
        own_entries(&older, row).expect("entries").iter().map(|own| own.event).collect();
    assert_eq!(left, [HookEvent::Pre, HookEvent::Post]);
    let newer = only_ours(row, Scope::User, &wanted(row)[3..]);
    assert_eq!(only_events(&newer, row, &row.events(Scope::User, None)), Ok(None));
}

/// A text of JSON in any formatting.
fn json_text(comments: bool) -> BoxedStrategy<String> {
    let value = prop_oneof![
        "[1-9][0-9]{0,3}",
        Just("null".to_owned()),
        Just("-1.5e3".to_owned()),
        "[a-z\\\\é {}\\[\\]/,:]{0,6}".prop_map(|text| json!(text).to_string()),
    ];
    let tree = value.prop_recursive(4, 24, 4, move |inner| {
        let items = prop::collection::vec((space(comments), inner, space(comments)), 0..4);
        let list = (items, space(comments), any::<bool>());
        let array = list.clone().prop_map(move |(items, blank, more)| {
            let items = items.iter().map(|(a, value, b)| format!("{a}{value}{b}"));
            joined('[', ']', items.collect(), &blank, more && comments)
        });
        let object = list.prop_map(move |(items, blank, more)| {
            let member = |(at, (a, value, b)): (usize, &(String, String, String))| {
                format!("{a}\"k{at}\"{b}:{a}{value}{b}")
            };
            let items = items.iter().enumerate().map(member);
            joined('{', '}', items.collect(), &blank, more && comments)
        });
        prop_oneof![array, object]
    });
    tree.boxed()
}

fn joined(open: char, close: char, items: Vec<String>, blank: &str, trailing: bool) -> String {
    let comma = if trailing && !items.is_empty() { "," } else { "" };
    let blank = if items.is_empty() || trailing { blank } else { "" };
    format!("{open}{}{comma}{blank}{close}", items.join(","))
}

fn space(comments: bool) -> BoxedStrategy<String> {
    let plain = prop_oneof![Just(""), Just(" "), Just("\n"), Just("\n  "), Just("\r\n\t")];
    let all = prop_oneof![
        3 => plain.clone(),
        1 => prop_oneof![Just(" // c, {\n"), Just("/* d */"), Just(" /* e\n*/ ")],
    ];
    if comments { all.boxed() } else { plain.boxed() }.prop_map(str::to_owned).boxed()
}

/// A settings file: members of all kinds, and `hooks` of the right shape or none.
fn settings(comments: bool) -> impl Strategy<Value = (usize, String)> {
    let value = json_text(comments);
    let hosts: Vec<usize> = (0..HOSTS.len())
        .filter(|at| HOSTS[*at].form != Form::Plugin)
        .filter(|at| !comments || HOSTS[*at].comments == Comments::Allowed)
        .collect();
    let spaces = prop::collection::vec(space(comments), 8);
    let entries = prop::collection::vec(value.clone(), 0..3);
    let event = prop::option::of(entries);
    let hooks = prop::option::of((event.clone(), event));
    let members = prop::collection::vec(value, 0..3);
    (prop::sample::select(hosts), spaces, hooks, members, any::<bool>(), any::<bool>()).prop_map(
        move |(host, s, hooks, members, first, more)| {
            let row = &HOSTS[host];
            let list = |items: &Vec<String>| {
                let items = items.iter().map(|item| format!("{}{item}{}", s[0], s[1])).collect();
                joined('[', ']', items, &s[2], more && comments)
            };
            let mut all: Vec<String> = members
                .iter()
                .enumerate()
                .map(|(at, value)| format!("{}\"m{at}\":{}{value}{}", s[3], s[4], s[5]))
                .collect();
            if let Some((own, other)) = &hooks {
                let own = own
                    .iter()
                    .map(|items| format!("{}\"{}\":{}", s[6], row.events[0].name, list(items)));
                let other =
                    other.iter().map(|items| format!("{}\"Stop\": {}{}", s[7], list(items), s[1]));
                let events = other.chain(own).collect();
                let hooks = format!(
                    "{}\"hooks\":{}{}",
                    s[0],
                    s[2],
                    joined('{', '}', events, &s[3], more && comments)
                );
                all.insert(if first { 0 } else { all.len() }, hooks);
            }
            let object = joined('{', '}', all, &s[4], more && comments);
            (host, format!("{}{object}{}", s[5], s[6]))
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_settings_come_back_to_the_byte((host, text) in settings(false)) {
        round_trip(&text, &HOSTS[host]);
    }

    #[test]
    fn any_settings_with_comments_come_back_to_the_byte((host, text) in settings(true)) {
        round_trip(&text, &HOSTS[host]);
    }

    #[test]
    fn whatever_text_comes_is_read_or_refused(text in ".{0,80}", cut in 0usize..40) {
        let row = HostFiles::of(Host::Gemini);
        let whole = installed("{ \"a\": [1] } // c", Host::Gemini);
        let at = whole.char_indices().map(|(at, _)| at).nth(cut * 7).unwrap_or(0);
        for text in [text.clone(), format!("{}{text}{}", &whole[..at], &whole[at..]), whole[at..].to_owned()] {
            if let Ok(with) = with_ours(&text, row, &wanted(row)) {
                prop_assert!(without_ours(&with, row).is_ok(), "{}", with);
            }
        }
    }
}

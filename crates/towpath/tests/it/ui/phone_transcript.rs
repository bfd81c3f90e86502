//! A conversation that was recorded with the backend that clients of this protocol were made for, repeated
//! as that client. What we do otherwise is in one list; everything else is the same, word for word.

use super::phone_client::{Phone, Received, key, server};
use crate::support::User;
use serde_json::Value;

const TRANSCRIPT: &str = include_str!("phone/transcript.txt");

/// What was recorded, what we send instead, and why. An empty text is a message that we do not send.
const DIFFERENCES: &[(&str, &str, &str)] = &[
    ("Welcome to voice-code backend", "Welcome to Towpath", "it is another server"),
    (
        "\"version\":\"0.5.0\"",
        "\"version\":\"0.4.0\"",
        "messages of a session are continued by number, which is version 0.4.0",
    ),
    (GENERAL_COMMANDS, "\"general_commands\":[]", "commands are not run from a phone: recipes are"),
    (
        "Create implementation tasks from design document using beads",
        "Create implementation tasks from a design document",
        "our recipe",
    ),
    (
        "Implement all tasks, restarting in new sessions after each commit",
        "Implement all tasks, one per session, restarting after each commit",
        "our recipe",
    ),
    (
        "Iteratively improve an existing design document through focused review passes",
        "Improve an existing design document through six focused review passes",
        "our recipe",
    ),
    (
        "Reflect on the session and identify areas for improvement",
        "Reflect on the session and identify friction points",
        "our recipe",
    ),
    (
        "Unrecognized token 'not': was expecting (JSON String, Number, Array, Object or token 'null', \
         'true' or 'false')\\n at [Source: (StringReader); line: 1, column: 4]",
        "expected ident at line 1 column 2",
        "the words of our reader of JSON",
    ),
    ("Recipe not found: :nope", "Recipe not found: nope", "the colon is Clojure's"),
    ("review_and_commit", "review-and-commit", "a recipe has one spelling"),
    ("implement_and_review", "implement-and-review", "a recipe has one spelling"),
    ("code_review", "code-review", "a step has one spelling"),
    (
        "no more answers",
        "implement failed: agent: backend: /home/ann/shop/answers.jsonl has no answer left: all 0 are \
         used; to continue: towpath resume <run>",
        "the words of our agent, and how to continue",
    ),
    (
        "<- {\"type\":\"recipe_exited\",\"session_id\":\"44444444-4444-4444-8444-444444444444\",\
         \"reason\":\"error\",\"error\":\"no more answers\"}\n",
        "<- {\"type\":\"turn_complete\",\"session_id\":\"44444444-4444-4444-8444-444444444444\",\
         \"aborted\":true}\n",
        "a recipe exits once, when its processes are gone, and then its turn is complete",
    ),
    (
        "<- {\"type\":\"error\",\"message\":\"no more answers\",\"session_id\":\
         \"44444444-4444-4444-8444-444444444444\"}\n",
        "",
        "a recipe exits once, when its processes are gone",
    ),
];

const GENERAL_COMMANDS: &str = r#""general_commands":[{"id":"git.status","label":"Git Status","description":"Show git working tree status","type":"command"},{"id":"git.push","label":"Git Push","description":"Push commits to remote repository","type":"command"},{"id":"git.worktree.list","label":"Git Worktree List","description":"List all git worktrees","type":"command"},{"id":"bd.ready","label":"Beads Ready","description":"Show tasks ready to work on","type":"command"},{"id":"bd.list","label":"Beads List","description":"List all beads tasks","type":"command"}]"#;

/// The transcript with our differences, the longest first: one may be a part of another.
fn expected() -> String {
    let mut differences: Vec<_> = DIFFERENCES.iter().collect();
    differences.sort_by_key(|(recorded, _, _)| std::cmp::Reverse(recorded.len()));
    differences.iter().fold(TRANSCRIPT.to_owned(), |text, (recorded, ours, _)| {
        assert!(text.contains(recorded), "not in the transcript: {recorded}");
        text.replace(recorded, ours)
    })
}

/// The answers of the agent in a part of the transcript.
fn script(title: &str) -> &'static str {
    match title.split(' ').next() {
        Some("4") => concat!(
            "{\"text\": \"{\\\"outcome\\\": \\\"issues-found\\\"}\"}\n",
            "\"Fixed it.\"\n",
            "{\"text\": \"{\\\"outcome\\\": \\\"complete\\\"}\"}\n",
            "{\"text\": \"{\\\"outcome\\\": \\\"no-issues\\\"}\"}\n",
            "{\"text\": \"{\\\"outcome\\\": \\\"committed\\\"}\"}\n",
        ),
        Some("6") => "{\"run\": \"sleep 600\"}\n",
        _ => "",
    }
}

#[test]
fn a_recorded_conversation_comes_out_the_same() {
    let user = User::new();
    let page = server(&user);
    let (key, directory) = (key(&user), user.path("work").display().to_string());
    let own = |text: &str| text.replace("<key>", &key).replace("/home/ann/shop", &directory);
    let mut phone = None;
    for (index, line) in expected().lines().enumerate() {
        let number = index + 1;
        if let Some(title) = line.strip_prefix("### ") {
            user.write("answers.jsonl", script(title));
        } else if let Some(text) = line.strip_prefix("<- ") {
            if text.contains("\"hello\"") {
                phone = Some(Phone::open(&page, "/"));
            }
            let mut message = phone.as_mut().expect("a connection").next().to_string();
            if let Some(run) = user.newest() {
                message = message.replace(run.as_str(), "<run>");
            }
            let message: Value = serde_json::from_str(&message).expect("JSON");
            let expected: Value = serde_json::from_str(&own(text)).expect("JSON");
            assert_eq!(message, expected, "line {number} of the expected transcript");
        } else if let Some(text) = line.strip_prefix("-> ") {
            phone.as_mut().expect("a connection").send_text(&own(text));
        } else if let Some(code) = line.strip_prefix("-- closed ") {
            let phone = phone.as_mut().expect("a connection");
            let code = code.trim().parse().expect("a code");
            if code == 1005 {
                phone.close();
            }
            assert_eq!(phone.receive(), Received::Closed(code), "line {number}");
        }
    }
    assert_eq!(user.runs(), 3, "the recipes that were started are runs like all others");
}

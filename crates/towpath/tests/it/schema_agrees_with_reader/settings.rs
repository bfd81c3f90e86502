//! The schema of settings.

use super::judged;
use crate::support::User;
use std::fs;

const VALUES: [&str; 13] = [
    "'word'",
    "7",
    "2.5",
    "0",
    "true",
    "['a']",
    "[['a']]",
    "{a = 'b'}",
    "'never'",
    "'codex'",
    "'report'",
    "'https://example.com'",
    "'  '",
];

/// Whether the program takes the file for the user's settings.
fn is_taken(user: &User, text: &str) -> bool {
    let directory = user.path("home/config");
    fs::create_dir_all(&directory).expect("a directory");
    fs::write(directory.join("settings.toml"), text).expect("a file");
    user.towpath(&["settings"]).code == Some(0)
}

#[test]
fn the_schema_and_the_reader_agree_on_every_setting() {
    let user = User::new();
    let schema = user.towpath(&["schema", "settings"]).exits(0).json();
    let keys = |table: &serde_json::Value| -> Vec<String> {
        table["properties"].as_object().expect("keys").keys().cloned().collect()
    };
    let mut names: Vec<String> = keys(&schema);
    for table in ["corrections", "tools"] {
        let inner = keys(&schema["properties"][table]).into_iter();
        names.extend(inner.map(|key| format!("{table}.{key}")));
    }
    let models = keys(&schema["properties"]["models"]["additionalProperties"]).into_iter();
    names.extend(models.map(|tier| format!("models.claude-code.{tier}")));
    names.extend(["models.no-such.opus", "no_such", "tools.no_such"].map(str::to_owned));
    assert!(names.len() > 20, "{names:?}");
    let texts: Vec<String> = names
        .iter()
        .flat_map(|name| VALUES.iter().map(move |value| format!("{name} = {value}\n")))
        .collect();
    let (mut fit, mut slips) = (0, 0);
    for (text, printed) in texts.iter().zip(judged("settings", &texts)) {
        assert_eq!(printed.is_none(), is_taken(&user, text), "{text}{printed:?}");
        if printed.is_none() { fit += 1 } else { slips += 1 }
    }
    assert!(fit > 30 && slips > 200, "{fit} fit, {slips} do not");
}

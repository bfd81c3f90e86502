//! Which model an agent is asked for, as the backend is called.

use crate::support::User;

const RECIPE: &str = "name: r\nsteps:\n  - {id: a, prompt: x, model: haiku}\n  - {id: b, prompt: x, model: opus}\n  - {id: c, prompt: x, model: own-7}\n  - {id: d, prompt: x}\n";

fn user(settings: &str) -> User {
    let answer = "{\"text\": \"ok\", \"repeat\": true}\n";
    let user = User::new().file("r.yaml", RECIPE).file("s.jsonl", answer);
    let file = user.path("home/config/settings.toml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, settings).unwrap();
    user
}

fn asked(user: &User) -> Vec<Option<String>> {
    let flags = ["run", "r.yaml", "--script", "s.jsonl", "--calls", "calls.jsonl"];
    user.towpath(&flags).exits(0);
    let model = |line: &str| {
        let call: serde_json::Value = serde_json::from_str(line).expect("a call");
        call["model"].as_str().map(str::to_owned)
    };
    user.read("calls.jsonl").lines().map(model).collect()
}

#[test]
fn a_model_tier_is_what_the_settings_have_for_the_backend() {
    let some = |names: [&str; 3]| {
        names.into_iter().map(|name| Some(name.to_owned())).chain([None]).collect::<Vec<_>>()
    };
    assert_eq!(asked(&user("")), some(["haiku", "opus", "own-7"]));
    let settings = "[models.scripted]\nhaiku = \"small-1\"\n[models.claude-code]\nopus = \"no\"\n";
    assert_eq!(asked(&user(settings)), some(["small-1", "opus", "own-7"]));
}

#[test]
fn settings_show_models_and_refuse_bad_ones() {
    let shown = user("[models.claude-code]\nhaiku = \"claude-haiku-4-5\"\n").towpath(&["settings"]);
    shown.exits(0).shows("models.claude-code.haiku  claude-haiku-4-5");
    for (bad, printed) in [
        ("[models.claude-cod]\nhaiku = \"x\"\n", "did you mean `claude-code`?"),
        ("[models.claude-code]\nmini = \"x\"\n", "unknown field `mini`"),
        ("[models.claude-code]\nhaiku = \" \"\n", "the model's name is empty"),
        ("[models]\nclaude-code = \"x\"\n", "invalid type"),
    ] {
        let reported_all = user(bad).towpath(&["run", "r.yaml"]).exits(5);
        reported_all.reports(printed).reports("settings.toml:");
    }
}

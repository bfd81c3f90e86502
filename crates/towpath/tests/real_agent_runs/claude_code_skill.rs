//! The real Claude Code finds the skill that `towpath skill install` writes: its description is in the
//! first request, and its text reaches the model that asks for it.

use crate::set_up_real_program::CLAUDE_CODE;
use crate::set_up_real_program::model_server::{Answer, ModelServer};
use crate::support::User;
use serde_json::json;

const RECIPE: &str = "name: ask\nsteps:\n  - {id: ask, prompt: Write a recipe.}\n";
const DESCRIPTION: &str = "Write, validate, test and run Towpath recipes";
const TAUGHT: &str = "Gates that are worth something";

#[test]
fn claude_code_lists_the_skill_and_loads_it_for_the_model() {
    let user = User::new().file("ask.yaml", RECIPE);
    let requests = |flags: &[&str]| {
        let ask = Answer::Tool("Skill", json!({"skill": "towpath"}));
        let server = ModelServer::new(vec![ask, Answer::Text("Done.")]);
        CLAUDE_CODE.run(&user, &server, &[&["run", "ask.yaml"], flags].concat()).exits(0);
        let requests = server.requests().into_iter().map(|request| request.to_string());
        requests.collect::<Vec<String>>()
    };
    let without = requests(&[]);
    assert!(!without.concat().contains(DESCRIPTION), "it is not installed yet");

    user.towpath(&["skill", "install"]).exits(0);
    let with = requests(&[]);
    assert!(with[0].contains(DESCRIPTION), "{}", with[0]);
    assert!(!with[0].contains(TAUGHT), "its text costs nothing until it is asked for");
    assert!(with.last().is_some_and(|last| last.contains(TAUGHT)), "{with:?}");
}

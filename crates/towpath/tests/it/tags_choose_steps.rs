//! Tags choose steps.

use crate::support::User;

#[test]
fn tags_on_the_command_line_choose_steps_and_a_resume_keeps_them() {
    let recipe = "name: r\nsteps:\n  - {id: always, command: echo always}\n  - {id: deploy, command: 'echo deployed; [ -e go ]', when_tags: [release]}\n";
    let user = User::new().file("r.yaml", recipe);
    user.towpath(&["run", "r.yaml"]).exits(0).reports("deploy: needs tag release");
    user.towpath(&["run", "r.yaml", "--include-tags", "x,release"])
        .exits(1)
        .shows("deployed")
        .reports("no step has the tag `x`")
        .reports("--include-tags: there is `release`");
    user.write("go", "");
    let run = user.run();
    user.towpath(&["resume", run.as_str()]).exits(0).shows("deployed");
}

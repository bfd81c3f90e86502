//! Names alone: of the table, of the system, or a question.

use super::visible;
use crate::support::{Printed, User};
use std::fs;
use std::os::unix::fs::symlink;

/// A name that nobody has reviewed is a question, whatever registries have under it.
#[test]
fn a_name_that_is_not_known_is_not_taken() {
    let user = User::on_disk();
    let bin = user.program("bin/apt-get", "#!/bin/sh\n");
    let mut command = user.command(&["tool", "create", "htop-for-me"]);
    command.env("PATH", bin.parent().expect("it has one"));
    let printed = Printed::from(command.output().expect("towpath starts")).exits(10);
    printed.reports("not in the table of known tools").reports("apt-get install htop-for-me");
    assert_eq!(visible(&user), Vec::<String>::new());
    user.towpath(&["tool", "create", "jq", "--from", "deb:jq"])
        .exits(2)
        .reports("apt-get install jq");
}

#[test]
fn a_program_of_the_system_is_used_where_it_is() {
    let user = User::on_disk();
    let printed = user.towpath(&["tool", "create", "tar"]).exits(0);
    assert!(printed.stdout.contains(" of the system works: /"), "{}", printed.stdout);
    let json = user.towpath(&["tool", "create", "tar", "--json"]).exits(0).json();
    assert_eq!((&json["from"], &json["status"]), (&"system".into(), &"system".into()), "{json}");
    assert_eq!((&json["tool"], &json["verdict"]), (&"tar".into(), &"works-by-version".into()));
    assert_eq!(json["version"], json["programs"][0]["version_found"], "{json}");
    assert_eq!(visible(&user), Vec::<String>::new());
    assert!(!user.path("home/config/tools/tar.toml").exists());
    user.towpath(&["tool", "create", "tar", "--bin", "tar"]).exits(2).reports("--bin needs --from");
    user.write("tools.txt", "tar\n");
    let json = user.towpath(&["tool", "create", "--batch", "tools.txt", "--json"]).exits(0).json();
    assert_eq!(json["works"], 1, "{json}");
}

/// Programs of administrators are often not on the PATH of users.
#[test]
fn a_recipe_may_require_a_program_of_the_system_that_is_not_on_path() {
    let recipe =
        "name: r\nrequires: [ldconfig]\nsteps:\n  - {id: a, command: command -v ldconfig}\n";
    let user = User::new().file("r.yaml", recipe);
    let output = user.command(&["run", "r.yaml"]).env("PATH", "/usr/bin:/bin").output();
    Printed::from(output.expect("towpath starts")).exits(0).shows("sbin/ldconfig\n");
}

/// A registry that has one package, and no other client: what npm would print.
fn registry(user: &User, package: &str) -> String {
    let view = serde_json::json!({
        "name": package, "version": "1.4.0", "description": "Makes hats of all sizes",
        "homepage": "https://example.com/hats", "bin": { package: "cli.js" },
        "maintainers": ["milliner <m@example.com>"], "time": { "1.4.0": "2020-05-01T10:00:00Z" },
    });
    let node = user.path("node/bin/node").display().to_string();
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in\n  '-p process.execPath') echo {node};;\n  *' view '*) echo '{view}';;\n  \
         *) echo no registry >&2; exit 1;;\nesac\n"
    );
    user.program("node/bin/node", &script);
    let npm = user.program("node/lib/node_modules/npm/bin/npm-cli.js", "");
    symlink(npm, user.path("node/bin/npm")).expect("a link");
    format!("PATH={}", user.path("node/bin").display())
}

#[test]
fn on_a_terminal_the_candidates_are_a_question() {
    let user = User::on_disk();
    let path = registry(&user, "hatmaker");
    let create = ["tool", "create", "hatmaker"];
    let screen = user.on_terminal_with(&path, &create, 80, "1\n");
    let shown = [
        "`hatmaker` is not in the table of known tools",
        "  1  npm:hatmaker",
        "1.4.0 · Makes hats of all sizes · by milliner · 2020-05-01 (",
        " years ago)",
        "https://example.com/hats",
        "Which one? 1, or nothing to stop: ",
        // The answer counts as --from.
        "  npm:hatmaker 1.4.0 · Makes hats of all sizes",
    ];
    for text in shown {
        assert!(screen.contains(text), "no {text} in {screen}");
    }
    let narrow = user.on_terminal_with(&path, &create, 40, "\n");
    // Text that is typed ahead is echoed before the question.
    let (list, _) = narrow.split_once("Which one?").expect("a question");
    assert!(list.lines().all(|line| line.chars().count() <= 40), "{narrow}");
    assert!(narrow.replace('\n', " ").contains("nothing was chosen, and nothing was"), "{narrow}");
    let end_of_input = user.on_terminal_with(&path, &create, 80, "\u{4}");
    assert!(end_of_input.contains("nothing was chosen"), "{end_of_input}");
    let wrong = user.on_terminal_with(&path, &create, 80, "7\n");
    assert!(wrong.contains("`7` is not 1; nothing was installed"), "{wrong}");
    let json = user.on_terminal_with(&path, &[&create[..], &["--json"]].concat(), 80, "");
    assert!(json.contains("--from npm:hatmaker") && !json.contains("Which one"), "{json}");
    assert_eq!(visible(&user), Vec::<String>::new());
    assert!(!fs::exists(user.path("home/config/tools/hatmaker.toml")).unwrap_or(true));
}

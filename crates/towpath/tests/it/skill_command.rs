//! `towpath skill`: what it installs, what it never overwrites, and that what it teaches works.

use crate::support::User;
use std::fs;
use std::os::unix::fs::symlink;

const FILE: &str = ".claude/skills/towpath/SKILL.md";

#[test]
fn it_is_installed_once_and_updated_while_it_is_unchanged() {
    let user = User::new().file(".towpath/recipes/x", "").file("deep/x", "");
    let install = |arguments: &[&str]| {
        let mut command = user.command(&[&["skill", "install"], arguments].concat());
        command.current_dir(user.path("work/deep"));
        crate::support::Printed::from(command.output().expect("towpath starts"))
    };
    install(&[]).exits(0).shows("created ");
    let text = user.read(FILE);
    assert!(text.starts_with("---\nname: towpath\ndescription: "), "{text}");
    install(&["--project"]).exits(0).shows("is up to date");

    // A text of an earlier version, as that version had written it.
    let (above, _) = text.rsplit_once('\n').and_then(|(t, _)| t.rsplit_once('\n')).expect("lines");
    user.write(FILE, &format!("{above}\nmine\n"));
    install(&[]).exits(2).reports("was changed, and stays as it is");
    assert_eq!(user.read(FILE), format!("{above}\nmine\n"));
    user.write(FILE, &earlier(&text));
    install(&[]).exits(0).shows("updated ");
    assert_eq!(user.read(FILE), text);
    // Also a change above the last line counts.
    user.write(FILE, &text.replacen("recipe", "Recipe", 1));
    install(&[]).exits(2).reports("was changed");
}

/// The file with another text, and the hash of that text.
fn earlier(text: &str) -> String {
    use sha2::{Digest as _, Sha256};
    let (_, seal) = text.trim_end().rsplit_once('\n').expect("lines");
    let (before, after) = seal.split_once(": ").expect("a hash");
    let (_, after) = after.split_once(' ').expect("a hash");
    let old = "---\nname: towpath\n---\nAn earlier text.\n";
    let hash = Sha256::digest(old.as_bytes());
    let hash: String = hash[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{old}\n{before}: {hash} {after}\n")
}

#[test]
fn a_users_own_is_where_claude_code_looks_and_links_are_not_followed() {
    let user = User::new();
    user.towpath(&["skill", "install", "--user"]).exits(0).shows("created ");
    assert!(user.path(FILE).exists(), "below the home directory");
    let mut moved = user.command(&["skill", "install", "--user"]);
    moved.env("CLAUDE_CONFIG_DIR", user.path("moved"));
    assert!(moved.output().expect("towpath starts").status.success());
    assert!(user.path("moved/skills/towpath/SKILL.md").exists());
    user.towpath(&["skill", "install", "--user", "--project"]).exits(2);

    user.towpath(&["uninstall"])
        .exits(0)
        .shows("removed the skill ~/.claude/skills/towpath/SKILL.md");
    assert!(!user.path(".claude/skills/towpath").exists());
    user.towpath(&["skill", "install", "--user"]).exits(0);
    fs::write(user.path(FILE), "mine\n").expect("a file");
    user.towpath(&["uninstall"]).exits(0).shows("nothing to remove");
    assert_eq!(fs::read_to_string(user.path(FILE)).expect("a file"), "mine\n");

    fs::create_dir(user.path("elsewhere")).expect("a folder");
    symlink(user.path("elsewhere"), user.path("work/.claude")).expect("a link");
    user.towpath(&["skill", "install"]).exits(5).reports("is a symbolic link");
    assert_eq!(fs::read_dir(user.path("elsewhere")).expect("a folder").count(), 0);
}

/// The blocks of the text that are files, by their names.
fn files(text: &str) -> Vec<(String, String)> {
    let blocks = text.split("<!-- file: ").skip(1);
    let file = |block: &str| {
        let (name, rest) = block.split_once(" -->\n```yaml\n")?;
        Some((name.to_owned(), rest.split_once("```")?.0.to_owned()))
    };
    blocks.map(|block| file(block).expect("a file")).collect()
}

#[test]
fn what_it_teaches_works() {
    let user = User::new();
    let text = user.towpath(&["skill", "print"]).exits(0).stdout;
    let files = files(&text);
    assert_eq!(files.len(), 2);
    for (name, text) in &files {
        user.write(name, text);
    }
    user.towpath(&["validate", "--strict", "fix-tests.yaml"]).exits(0);
    user.towpath(&["explain", "fix-tests.yaml"]).exits(0);
    user.towpath(&["test", "fix-tests.yaml", "--mutate"]).exits(0).shows("4 of 4 steps noticed");
    let fields = towpath_recipe::field_table::FIELDS;
    let table = text.split("\n| field of a step |").nth(1).expect("the table of fields");
    for row in table.lines().skip(2).take_while(|line| line.starts_with('|')) {
        let cell = row.split('|').nth(1).expect("a cell");
        for word in cell.split('`').skip(1).step_by(2) {
            let name = word.split(':').next().unwrap_or(word);
            assert!(fields.iter().any(|field| field.name == name), "no field {name}");
        }
    }
    let commands = text.split('`').skip(1).step_by(2);
    let commands: Vec<&str> = commands.filter_map(|c| c.strip_prefix("towpath ")).collect();
    assert!(commands.len() > 10, "{commands:?}");
    for command in commands.iter().filter(|command| !command.starts_with("COMMAND")) {
        let name = command.split(' ').next().expect("a name");
        let help = user.towpath(&[name, "--help"]).exits(0).stdout;
        for flag in command.split(' ').filter(|word| word.starts_with("--")) {
            assert!(help.contains(flag), "towpath {command}");
        }
    }
}

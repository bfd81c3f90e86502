//! What is wrong with a document, all at once and before anything runs.

use crate::support::User;

#[test]
fn all_problems_are_reported_before_anything_runs() {
    let document = "@run [echo x > made]\n@run $greeet(a)\n@define greet(x) = @run [echo {{x}}]\n\
        @run $greet(a, b)\n@text t = \"{{nope}}\"\n@data d = {\"a\" 1}\n@run [echo\n";
    let user = User::new().file("a.md", document);
    let printed = user.towpath(&["render", "a.md"]).exits(2).prints("");
    for text in [
        "Command 'greeet' not found",
        "a.md:2",
        "greet(x) takes 1 argument, and 2 were given",
        "a.md:4",
        "`nope` is not defined",
        "a.md:5",
        "invalid JSON",
        "a.md:6",
        "`[` is not closed",
        "a.md:7",
        "5 errors in a.md. Nothing was run.",
    ] {
        assert!(printed.stderr.contains(text), "{text}: {}", printed.stderr);
    }
    assert!(!user.path("work/made").exists());
}

#[test]
fn a_near_name_is_suggested() {
    let user = User::new().file(
        "a.md",
        "@define greet = @run [echo]\n@text name = 'x'\n@run $gret\n@run [echo {{nane}}]\n",
    );
    let printed = user.towpath(&["render", "a.md"]).exits(2);
    printed.reports("did you mean $greet?").reports("did you mean {{name}}?");
}

#[test]
fn a_failing_command_fails_the_document_with_its_location() {
    let user = User::new().file("a.md", "a\n@run [echo why >&2; exit 7]\nb\n");
    let printed = user.towpath(&["render", "a.md"]).exits(1).prints("");
    printed.reports("why\n").reports("the command failed with exit code 7").reports("a.md:2:1");
    let json = user.towpath(&["render", "a.md", "-f", "json"]).exits(1).json();
    let problem = &json["problems"][0];
    assert_eq!(
        (&problem["code"], &problem["severity"]),
        (&"EXECUTION_FAILED".into(), &"error".into())
    );
    assert!(problem["hint"].as_str().is_some_and(|hint| hint.contains("why")), "{problem}");
}

#[test]
fn warnings_are_errors_where_the_user_is_strict() {
    let user = User::new().file("a.md", "@text a = '1'\n{{a}} {{b}}\n");
    user.towpath(&["render", "a.md"])
        .exits(0)
        .prints("1 {{b}}\n")
        .reports("warning: `b` is not defined");
    user.towpath(&["render", "a.md", "--strict"])
        .exits(2)
        .prints("")
        .reports("error: `b` is not defined");
}

#[test]
fn a_problem_of_an_import_is_shown_with_where_it_is_imported() {
    let user = User::new()
        .file("a.md", "x\n@import [b/c.md]\n")
        .file("b/c.md", "\n@text t = \"{{no}}\"\n");
    user.towpath(&["render", "a.md"])
        .exits(2)
        .reports("b/c.md:2")
        .reports("a.md:2")
        .reports("imported here");
}

#[test]
fn a_pipe_is_neither_embedded_nor_imported() {
    let user = User::new().file("a.md", "@embed [fifo]\n").file("b.md", "@import [fifo]\n");
    let fifo = user.path("work/fifo");
    std::process::Command::new("mkfifo").arg(fifo).status().expect("mkfifo is there");
    for document in ["a.md", "b.md"] {
        user.towpath(&["render", document]).exits(2).reports("it is no regular file");
    }
    user.write("c.md", "@embed [/dev/stdin]\n");
    user.towpath(&["render", "c.md"]).exits(2);
}

#[test]
fn an_imported_file_is_named_as_the_user_would_type_it() {
    let user = User::new().file("d/a.md", "@import [sub/b.md]\n").file("d/sub/b.md", "@run [\n");
    user.towpath(&["render", "d/a.md"]).exits(2).reports("d/sub/b.md:1:6");
}

#[test]
fn an_empty_command_is_refused_however_it_is_written() {
    for body in ["[]", "[[ ]]", "\"\"", "' '", "@run [ ]"] {
        let user = User::new().file("a.md", &format!("@define x = {body}\n"));
        user.towpath(&["render", "a.md"]).exits(2).reports("the command is empty");
    }
    let user = User::new().file("a.md", "@run [echo \0]\n");
    user.towpath(&["render", "a.md"]).exits(2).reports("a command cannot contain a NUL byte");
}

#[test]
fn what_cannot_be_a_document_is_refused() {
    let user = User::new().file("d/x", "");
    user.towpath(&["render", "none.md"]).exits(2).reports("none.md: there is no such file");
    user.towpath(&["render", "d"]).exits(2).reports("it is a directory");
    user.write("a.md", "x\n");
    user.towpath(&["render", "a.md", "--set", "novalue"]).exits(2).reports("--set NAME=VALUE");
    user.towpath(&["render", "a.md", "--set", "x=1"]).exits(0).reports("does not read `x`");
    user.towpath(&["render", "a.md", "--timeout", "0"]).exits(2);
    user.towpath(&["render", "a.md", "--cwd", "nowhere"]).exits(0);
    user.write("a.md", "@run [pwd]\n");
    user.towpath(&["render", "a.md", "--cwd", "nowhere"]).exits(1).reports("could not be started");
}

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

const READ_AS_CODE: &str = "@text v = 'x'\n@run [eval \"echo {{v}}\"]\n@run [find . -exec sh -c 'echo {{v}}' \\;]\n\
    @run [python3 -c \"print('{{v}}')\"]\n@run [awk \"{print {{v}}}\"]\n@define f(a) = @run [eval \"ls {{a}}\"]\n";

#[test]
fn a_value_that_a_program_reads_as_code_is_warned_of() {
    let user = User::new().file("a.md", READ_AS_CODE);
    for arguments in [&["validate", "a.md"][..], &["render", "a.md", "--strict"]] {
        let printed = user.command(arguments).output().expect("it starts");
        let text = String::from_utf8_lossy(&[printed.stdout, printed.stderr].concat()).into_owned();
        assert_eq!(text.matches("reads this value as code").count(), 5, "{text}");
    }
    user.towpath(&["validate", "a.md"]).exits(0).shows("a.md:2");
    user.towpath(&["validate", "a.md", "--strict"]).exits(2);
    user.write("b.mld", "@run $none\n");
    user.towpath(&["validate", "b.mld"]).exits(2).shows("Command 'none' not found");
    user.write("R.md", "<!-- towpath:begin none -->\n<!-- towpath:end -->\n");
    user.towpath(&["validate", "R.md"]).exits(2).shows("`none` is not defined");
    user.write("r.yaml", "name: r\nsteps:\n  - {id: ask, prompt_file: a.md}\n");
    user.towpath(&["validate", "r.yaml"]).exits(0).shows("reads this value as code");
}

#[test]
fn a_variable_of_the_document_is_none_of_the_shell() {
    let text = "@path src = '$./src'\n@define ls(d) = @run [ls {{d}} $d]\n@run [ls -la $src]\n@run $ls($src/x)\n\
        @run [src=1; echo $src '$src']\n@text HOME = 'h'\n@run [echo $HOME]\n";
    let user = User::new().file("a.md", text).file("src/x", "");
    let printed = user.towpath(&["validate", "a.md"]).exits(0).stdout;
    assert_eq!(printed.matches("a variable of the shell here").count(), 2, "{printed}");
    assert_eq!(printed.matches("an argument as it is written").count(), 1, "{printed}");
    for location in ["a.md:3:14", "2 │ @define ls(d)", "a.md:4:10"] {
        assert!(printed.contains(location), "{location}: {printed}");
    }
}

#[test]
fn a_line_that_only_looks_like_a_directive_is_reported() {
    for line in [
        "@embed file.md",
        "@embed \"f\"",
        "@embed $p",
        "@import \"f.md\"",
        "@import {a} from [x]",
        "@text = \"x\"",
        "@text x \"y\"",
        "@text x: \"y\"",
        "@data x: {}",
        "@path x \"y\"",
        "@define g(n) @run [x]",
        "@define g(n",
        "@define g n = @run [x]",
        "@define x.about = \"y\"",
        "@run echo hi",
        "@run {{x}}",
    ] {
        let user = User::new().file("a.md", &format!("{line}\n"));
        let printed = user.towpath(&["render", "a.md"]).exits(0).prints(&format!("{line}\n"));
        printed.reports("this looks like a directive, and is prose");
        user.towpath(&["render", "a.md", "--strict"]).exits(2);
    }
    for line in
        ["@Run [x]", "@txt a = \"b\"", "@runs [x]", "@imports [x]", "@Define a = [x]", "{{a>>b}}"]
    {
        let user = User::new().file("a.md", &format!("@text t = 'x'\n{line}\n"));
        user.towpath(&["render", "a.md"]).exits(0).reports("this looks like a directive");
        user.write("b.mld", &format!("{line}\n"));
        user.towpath(&["render", "b.mld"]).exits(0).reports("this looks like a directive");
        user.write("c.md", &format!("{line} and {{{{ x }}}}\n"));
        let quiet = user.towpath(&["render", "c.md", "--strict"]).exits(0);
        assert_eq!(quiet.stderr, "", "ordinary Markdown is left alone");
    }
    let user = User::new().file("a.mld", "@path p = '$./x'\n@user\nin $p and ${p}\n");
    let printed = user.towpath(&["render", "a.mld"]).exits(0).stderr;
    assert_eq!(printed.matches("warning: ").count(), 3, "{printed}");
}

#[test]
fn what_a_failed_command_printed_is_shown() {
    let user =
        User::new().file("a.md", "one\n@run [echo done]\n@run [echo 'FAILED test_x'; exit 1]\n");
    user.towpath(&["render", "a.md"]).exits(1).prints("").reports("FAILED test_x");
    let json = user.towpath(&["render", "a.md", "-f", "json"]).exits(1).json();
    assert!(
        json["problems"][0]["hint"].as_str().is_some_and(|hint| hint.contains("FAILED test_x"))
    );
    assert_eq!((&json["valid"], &json["output"]), (&false.into(), &"one\ndone\n".into()));
    assert_eq!(json["nodes"][1]["output"], "done\n");
}

#[test]
fn a_document_may_be_rendered_to_its_end_though_commands_fail() {
    let document = "@run [echo part; exit 3]\n@text x = @run [false]\n@run [echo {{x}} >> made]\n{{x}}\n@run [echo last]\n";
    let user = User::new().file("a.md", document);
    let printed = user.towpath(&["render", "a.md", "--keep-going"]).exits(1);
    let failed = "error: the command failed with exit code";
    let missing = "error: a value that the command needs is missing: what gives it has failed";
    printed.prints(&format!("part\n{failed} 3\n{failed} 1\n{missing}\n{{{{x}}}}\nlast\n"));
    assert!(!user.path("work/made").exists(), "nothing runs with a value that is missing");
}

#[test]
fn the_first_failing_line_fails_a_command() {
    for command in ["false | cat; echo survived", "false; echo survived"] {
        let user = User::new().file("a.md", &format!("@run [{command}]\n@run [[\n{command}\n]]\n"));
        user.towpath(&["render", "a.md"]).exits(1).prints("");
        user.towpath(&["render", "a.md", "--no-fail-fast"]).exits(0).prints("survived\nsurvived\n");
    }
    let user = User::new().file("a.md", "@run [--version]\n@run [[[ abc == a* ]]]\nend\n");
    user.towpath(&["render", "a.md", "-k"]).exits(1).shows("exit code 127\nend\n");
}

#[test]
fn a_command_that_is_commented_out_does_not_run() {
    for text in [
        "Some text. <!-- disabled:\n@run [touch made]\n-->\n",
        "<!-- one --> <!-- two\n@run [touch made]\n-->\n",
        "- item <!--\n@run [touch made]\n\n@run [touch made]\n-->\n",
        "a `code\n@run [touch made]\nspan` b\n",
        "<pre>\n@run [touch made]\n</pre>\n",
        "<script>\n\n@run [touch made]\n</script>\n",
    ] {
        let user = User::new().file("a.md", &format!("{text}@run [echo ran]\n"));
        user.towpath(&["render", "a.md"]).exits(0).prints(&format!("{text}ran\n"));
        assert!(!user.path("work/made").exists(), "{text}");
    }
}

#[test]
fn what_the_user_sets_wins_over_what_the_document_sets() {
    let user = User::new()
        .file("a.md", "@text env = \"staging\"\n@text by = @run [touch made; echo run]\n@import [d.md]\n{{env}} {{by}} {{tag}}\n")
        .file("d.md", "@text tag = 'none'\n");
    let set = ["render", "a.md", "--set", "env=production", "--set", "by=me", "--set", "tag=v1"];
    user.towpath(&set).exits(0).prints("production me v1\n");
    assert!(!user.path("work/made").exists());
    user.towpath(&["render", "a.md"]).exits(0).prints("staging run none\n");
}

#[test]
fn values_are_embedded_and_data_has_references() {
    let text = "@text n = 'N \"q\"'\n@data l = [1, 2]\n@data d = {\"k\": \"a {{n}}\", v: {{l}}, \"e\": \"\\\\{{n}}\"}\n\
        @data m = {{ name: \"A\", id: 1 }}\n@embed {{d}}\n@embed {{m.name}}\n@text t = {{n}} ++ '!'\n{{t}}\n@text h = 'B'\n\
        @embed [\"part.md\" # {{h}}]\n";
    let user = User::new().file("a.md", text).file("part.md", "# A\n# B\nb\n");
    let expected = "{\"k\":\"a N \\\"q\\\"\",\"v\":[1,2],\"e\":\"{{n}}\"}\nA\nN \"q\"!\n# B\nb\n";
    user.towpath(&["render", "a.md"]).exits(0).prints(expected);
    user.write("a.md", "@data d = {\"k\": \"{{none}}\"}\n@embed {{nothing}}\n");
    user.towpath(&["render", "a.md"]).exits(2).reports("`none` is not").reports("`nothing` is not");
}

#[test]
fn a_read_only_file_stays() {
    let user = User::new().file("a.md", "new\n").file("out.md", "old\n");
    let path = user.path("work/out.md");
    let mut permissions = std::fs::metadata(&path).expect("a file").permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&path, permissions).expect("set");
    user.towpath(&["render", "a.md", "-o", "out.md"]).exits(5).reports("out.md: it is read-only");
    assert_eq!(user.read("out.md"), "old\n");
    user.towpath(&["render", "a.md", "-o", "-"]).exits(0).prints("new\n");
}

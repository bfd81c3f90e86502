//! The tests of Meld's plan for command references, by their names there, as they were meant: with real
//! commands instead of mocks. Then its list of edge cases.

use crate::render_with_real_bash::Directory;
use towpath_core::Map;

fn rendered(document: &str) -> Result<String, String> {
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::write(directory.path().join("main.md"), document).expect("written");
    let rendered = Directory(directory.path().to_owned()).render("main.md", &Map::new());
    let text = rendered.map(|bytes| String::from_utf8(bytes).expect("text"));
    text.map_err(|errors| {
        errors.iter().map(|error| format!("{} {}", error.code, error.message)).collect()
    })
}

#[track_caller]
fn gives(document: &str, expected: &str) {
    assert_eq!(rendered(document).as_deref(), Ok(expected), "{document}");
}

#[track_caller]
fn fails(document: &str, expected: &str) {
    assert_eq!(rendered(document), Err(expected.to_owned()), "{document}");
}

#[test]
fn should_properly_expand_simple_command_references() {
    gives("@define echo = @run [echo \"Hello, World!\"]\n@run $echo\n", "Hello, World!\n");
}

#[test]
fn should_handle_command_references_with_parameters() {
    gives(
        "@define greet(person) = @run [echo \"Hello, {{person}}!\"]\n@run $greet(John)\n",
        "Hello, John!\n",
    );
}

#[test]
fn should_handle_parameters_with_spaces_and_quotes() {
    gives(
        "@define greet(name, role) = @run [echo \"Hello, {{name}}! You are a {{role}}\"]\n\
         @run $greet(\"John Doe\", \"Software Engineer\")\n",
        "Hello, John Doe! You are a Software Engineer\n",
    );
}

#[test]
fn should_handle_commands_with_variable_parameters() {
    gives(
        "@data user = {\"name\": \"Test User\"}\n\
         @define greet(person) = @run [echo \"Hello, {{person}}!\"]\n@run $greet({{user.name}})\n",
        "Hello, Test User!\n",
    );
}

#[test]
fn should_throw_error_for_undefined_commands() {
    fails("@run $unknownCommand\n", "EXECUTION_FAILED Command 'unknownCommand' not found");
}

#[test]
fn should_process_command_definition_and_execution_end_to_end() {
    let document = "\n    @define greet(person) = @run [echo \"Hello, {{person}}!\"]\n    @run $greet(World)\n  ";
    assert!(rendered(document).is_ok_and(|text| text.contains("Hello, World!")));
}

#[test]
fn commands_with_complex_nested_variables() {
    gives(
        "@data d = {\"a\": [{\"b\": \"x\"}, {\"b\": {\"c\": [1, 2.50]}}]}\n\
         @define show(v) = @run [printf '<%s>' {{v}}]\n\
         @define twice(v) = @run $show({{v}}{{d.a.0.b}})\n\
         @run $show({{d.a[1].b.c.1}})\n@run $show({{d.a.1}})\n@run $twice({\"k\": {{d.a.0.b}}})\n",
        "<2.50>\n<{\"b\":{\"c\":[1,2.50]}}>\n<{\"k\": x}x>\n",
    );
}

#[test]
fn commands_with_different_syntax_variations() {
    let definitions = "@define a = @run [echo 1]\n@define b() = @run[echo 2]\n@define c = [echo 3]\n\
        @define d = \"echo 4\"\n@define e = @run [[\necho 5\n]]\n@define f = @run $a\n@define g=@run [[echo 7]]\n";
    let calls = "@run $a\n@run $b()\n@run [$c]\n@run [$d()]\n@run [ $e ]\n@run  $f  \n@run\t$g()\n";
    gives(&format!("{definitions}{calls}"), "1\n2\n3\n4\n5\n1\n7\n");
}

#[test]
fn error_cases() {
    for (document, expected) in [
        (
            "@define g = @run echo hi\n",
            "VALIDATION_FAILED Invalid @run command format in definition: @run echo hi",
        ),
        (
            "@define g = @embed [x.md]\n",
            "VALIDATION_FAILED Cannot execute non-run directive as command: @embed [x.md]",
        ),
        ("@define g(a, a) = @run [x]\n", "VALIDATION_FAILED duplicate parameter `a`"),
        ("@run [false]\n", "EXECUTION_FAILED the command failed with exit code 1"),
        ("@run [echo {{x}}]\n", "VARIABLE_NOT_FOUND `x` is not defined"),
        ("@define a = @run $a\n@run $a\n", "CIRCULAR_REFERENCE `a` calls itself (a -> a)"),
    ] {
        fails(document, expected);
    }
}

#[test]
fn escape_handling_in_commands() {
    gives(
        "@text x = \"v\"\n@define p(a) = @run [printf '<%s>' {{a}} '\\{{x}}' '{{.Go}}']\n\
         @run $p(\"a\\\"b\\\\c\\td\\{{x}}\")\n@run $p('it\\'s \\n {{x}}')\n@run $p(\\{{x}})\n",
        "<a\"b\\c\td{{x}}><{{x}}><{{.Go}}>\n<it's \\n {{x}}><{{x}}><{{.Go}}>\n<{{x}}><{{x}}><{{.Go}}>\n",
    );
}

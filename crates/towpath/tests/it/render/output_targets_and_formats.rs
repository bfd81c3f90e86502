//! Where a rendered document goes, and in which form.

use crate::support::User;
use std::io::Write as _;
use std::process::Stdio;

const GREETING: &str =
    "@define greet(name) = @run [echo \"Hello, {{name}}!\"]\n@run $greet(World)\n";

#[test]
fn a_file_is_written_all_at_once_or_not_at_all() {
    let user = User::new().file("a.md", GREETING).file("out.md", "old\n");
    user.towpath(&["render", "a.md", "-o", "out.md"]).exits(0).prints("");
    assert_eq!(user.read("out.md"), "Hello, World!\n");
    user.write("a.md", "x\n@run [echo half; false]\n");
    user.towpath(&["render", "a.md", "-o", "out.md"]).exits(1).prints("").reports("exit code 1");
    assert_eq!(user.read("out.md"), "Hello, World!\n");
    user.towpath(&["render", "a.md", "-o", "a.md"]).exits(2).reports("would replace the document");
    user.towpath(&["render", "a.md", "-o", "no/such/dir/x.md"]).exits(1);
}

#[test]
fn a_check_fails_with_the_difference() {
    let user = User::new().file("a.md", GREETING).file("out.md", "Hello, World!\n");
    user.towpath(&["render", "a.md", "--check", "out.md"]).exits(0).prints("");
    user.write("out.md", "Hello, you!\n");
    let printed = user.towpath(&["render", "a.md", "--check", "out.md"]).exits(1);
    assert!(printed.stdout.contains("-Hello, you!\n+Hello, World!\n"), "{printed:?}");
    printed.reports("out.md is not what the document gives now");
    assert_eq!(user.read("out.md"), "Hello, you!\n");
    user.towpath(&["render", "a.md", "--check", "none.md"]).exits(1).shows("+Hello, World!");
}

#[test]
fn a_pipe_or_a_device_is_written_to_and_never_read() {
    let user = User::new().file("a.md", GREETING);
    user.towpath(&["render", "a.md", "-o", "/dev/stdout"]).exits(0).prints("Hello, World!\n");
    user.towpath(&["render", "a.md", "-o", "/dev/full"]).exits(5).reports("/dev/full");
    let fifo = user.path("work/fifo");
    std::process::Command::new("mkfifo").arg(&fifo).status().expect("mkfifo is there");
    let reader = std::process::Command::new("cat").arg(&fifo).stdout(Stdio::piped()).spawn();
    user.towpath(&["render", "a.md", "-o", "fifo"]).exits(0);
    let read = reader.and_then(std::process::Child::wait_with_output).expect("cat reads");
    assert_eq!(String::from_utf8_lossy(&read.stdout), "Hello, World!\n");
    let kind = std::fs::symlink_metadata(&fifo).expect("it is there").file_type();
    assert!(!kind.is_file(), "a pipe stays a pipe");
    user.towpath(&["render", "a.md", "--check", "/dev/zero"]).exits(2).reports("no regular file");
}

#[test]
fn a_check_shows_what_cannot_be_seen_and_misses_a_file() {
    let user = User::new().file("a.md", "x\n").file("crlf.md", "x\r\n").file("empty.md", "");
    user.towpath(&["render", "a.md", "--check", "crlf.md"]).exits(1).shows("-x\\u{d}\n+x\n");
    user.write("esc.md", "a\u{1b}[2Jb\n");
    let printed = user.towpath(&["render", "a.md", "--check", "esc.md"]).exits(1);
    assert!(!printed.stdout.contains('\u{1b}'), "{printed:?}");
    user.towpath(&["render", "empty.md", "--check", "none.md"])
        .exits(1)
        .reports("none.md does not exist");
}

#[test]
fn standard_input_is_a_document_of_the_current_directory() {
    let user = User::new().file("data.txt", "D\n");
    let mut towpath = user.command(&["render", "-"]);
    let mut child =
        towpath.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    child.stdin.take().expect("a pipe").write_all(b"@run [cat data.txt]\nend").expect("written");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "D\nend");
}

#[test]
fn the_nodes_are_printed_as_json() {
    let user = User::new().file("a.md", &format!("Hi {{{{who}}}}\n{GREETING}"));
    let printed =
        user.towpath(&["render", "a.md", "--format", "json", "--set", "who=you"]).exits(0);
    let json = printed.json();
    assert_eq!((&json["schema"], &json["valid"]), (&1.into(), &true.into()));
    assert_eq!(json["output"], "Hi you\nHello, World!\n");
    let nodes = json["nodes"].as_array().expect("nodes");
    let types: Vec<&str> = nodes.iter().filter_map(|node| node["type"].as_str()).collect();
    assert_eq!(types, ["text", "reference", "text", "directive", "directive"]);
    assert_eq!((&nodes[1]["output"], &nodes[1]["line"]), (&"you".into(), &1.into()));
    let run = &nodes[4];
    assert_eq!((&run["directive"], &run["line"]), (&"run".into(), &3.into()));
    assert_eq!(run["commands"][0]["command"], "echo \"Hello, World!\"");
    assert_eq!(run["commands"][0]["parameters"][0], serde_json::json!(["name", "World"]));
    let text = user.read("a.md");
    let joined: String = nodes
        .iter()
        .map(|node| {
            let at = |key: &str| node["span"][key].as_u64().expect("an offset") as usize;
            &text[at("start")..at("end")]
        })
        .collect();
    assert_eq!(joined, text, "the nodes are the whole document");
    let problems = user.towpath(&["render", "a.md", "-f", "json", "--strict"]).exits(2).json();
    assert_eq!(problems["valid"], false);
    assert_eq!(problems["problems"][0]["code"], "VARIABLE_NOT_FOUND");
}

#[test]
fn a_second_rendering_is_the_same() {
    let document =
        format!("{GREETING}@data d = {{\"b\": 1.10, \"a\": [true]}}\n{{{{d}}}}\n@embed [b.md]\n");
    let user = User::new().file("a.md", &document).file("b.md", "{{x}}\n\n");
    let first = user.towpath(&["render", "a.md"]).exits(0).stdout;
    assert_eq!(first, "Hello, World!\n{\"b\":1.10,\"a\":[true]}\n{{x}}\n");
    assert_eq!(user.towpath(&["render", "a.md"]).exits(0).stdout, first);
}

#[test]
fn bytes_that_are_no_text_pass_through() {
    let user = User::new();
    let document = b"caf\xe9 {{x}}\n@run [printf 'a\\377b']\n\xff".as_slice();
    std::fs::write(user.path("work/a.md"), document).expect("written");
    let printed = user.command(&["render", "a.md", "--set", "x=1"]).output().expect("it starts");
    assert_eq!(printed.stdout, b"caf\xe9 1\na\xffb\n\xff");
}

#[test]
fn a_secret_is_masked_everywhere() {
    let user = User::new().file("a.md", "@run [echo \"token $TOKEN\"]\n@embed [b.md]\n");
    let user = user.file("b.md", "s3cr3t-value-1\n");
    let mut command = user.command(&["render", "a.md", "--secret", "TOKEN"]);
    let printed = command.env("TOKEN", "s3cr3t-value-1").output().expect("it starts");
    let text = String::from_utf8_lossy(&printed.stdout).into_owned();
    assert!(!text.contains("s3cr3t") && text.starts_with("token "), "{text}");
    user.towpath(&["render", "a.md", "--secret", "TOKEN"]).exits(5).reports("TOKEN is not set");
}

#[test]
fn a_closed_pipe_is_no_error() {
    let user = User::new().file("a.md", &"line\n".repeat(100_000));
    let mut child =
        user.command(&["render", "a.md"]).stdout(Stdio::piped()).spawn().expect("starts");
    drop(child.stdout.take());
    assert!(child.wait().expect("ends").success());
}

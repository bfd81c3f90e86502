//! What comes out of a sandbox is checked: a server that lies is refused, and ended.

use super::*;
use std::fs;
use towpath_process::sandbox::SandboxError;

/// A program of ours that is a bash script; the number of the socket is in `$socket`.
fn server(directory: &Path, script: &str) -> PathBuf {
    let path = directory.join("server");
    // bash redirects to files of two digits only by a name.
    let text = format!("#!/bin/bash\nexec {{socket}}>&$3 {{input}}<&$3\n{script}\n");
    fs::write(&path, text).expect("a file");
    open_to_all(&path, 0o755);
    path
}

const READY: &str = r#"frame() { printf "\\x$1\\x$(printf %02x $(( ${#2} % 256 )))\\x$(printf %02x $(( ${#2} / 256 )))\\x00\\x00%s" "$2" >&$socket; }
    head -c 100 <&$input >/dev/null; frame 00 '"Ready"'"#;

pub fn what_is_no_server_is_refused(kind: Kind) {
    let directory = outside();
    for (script, expected) in [
        ("exit 0", "it ended at once"),
        ("echo broken >&2; exit 3", "broken"),
        ("printf 'hello, world' >&$socket; cat <&$input >/dev/null", "cannot be true"),
        ("printf '\\x00\\xff\\xff\\xff\\xff' >&$socket; cat <&$input >/dev/null", "cannot be true"),
        (
            "printf '\\x00\\x02\\x00\\x00\\x00{}' >&$socket; cat <&$input >/dev/null",
            "cannot be true",
        ),
    ] {
        let program = server(directory.path(), script);
        let error = SandboxSession::open(&kind.confinement(), &policy(), &program)
            .expect_err("it is no sandbox");
        assert!(error.to_string().contains(expected), "{script}: {error}");
    }
    let missing = SandboxSession::open(&kind.confinement(), &policy(), Path::new("/no/such"));
    assert!(matches!(missing, Err(SandboxError::Start { .. })), "{missing:?}");
}

pub fn an_answer_that_cannot_be_true_is_refused(kind: Kind) {
    let directory = outside();
    for answer in [
        r#"frame 00 '{"Ended":{"status":{"exited":999},"took_us":1}}'"#,
        r#"frame 00 '{"Ended":{"status":{"signaled":0},"took_us":1}}'"#,
        r#"frame 00 '{"Ended":{"status":{"not_started":"rm -rf"},"took_us":1}}'"#,
        r#"frame 00 '{"Ended":{"status":"improved","took_us":1}}'"#,
        r#"frame 00 '"Ready"'"#,
        r#"frame 01 "$(head -c 2000 /dev/zero | tr '\0' x)""#,
        r#"printf '\x01\x01\x00\x01\x00' >&$socket"#,
    ] {
        let script = format!("{READY}\n{answer}\ncat <&$input >/dev/null");
        let program = server(directory.path(), &script);
        let mut session =
            SandboxSession::open(&kind.confinement(), &policy(), &program).expect("it seems ready");
        let mut command = bash("exit 0");
        command.output_limit = 1000;
        let error = session.run(&command, &mut |_, _| {}).expect_err(answer);
        assert!(matches!(error, SandboxError::Garbled), "{answer}: {error}");
        let closed = session.run(&command, &mut |_, _| {}).expect_err("it is closed");
        assert!(matches!(closed, SandboxError::Closed), "{closed}");
    }
}

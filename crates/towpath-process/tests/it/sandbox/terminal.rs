//! A command that asks for a terminal has one of its own.

use super::*;

const QUESTIONS: &str = "
    for n in 0 1 2; do [ -t $n ] && echo terminal $n; done
    (: </dev/tty) 2>/dev/null && echo controlling
    stty size 2>/dev/null
    echo error >&2
";

pub fn a_terminal_is_a_terminal(kind: Kind) {
    for policy in policies() {
        let mut command = bash(QUESTIONS);
        command.terminal = true;
        let (status, stdout, stderr) = texts(run(&mut open_with(kind, &policy), &command));
        assert_eq!((status, stderr.as_str()), (EndStatus::Exited(0), ""));
        let lines: Vec<&str> = stdout.split("\r\n").collect();
        let expected =
            ["terminal 0", "terminal 1", "terminal 2", "controlling", "24 80", "error", ""];
        assert_eq!(lines, expected);
    }
}

pub fn without_one_there_is_none(kind: Kind) {
    let mut session = open(kind);
    let (status, stdout, stderr) = texts(run(&mut session, &bash(QUESTIONS)));
    assert_eq!((status, stdout.as_str(), stderr.as_str()), (EndStatus::Exited(0), "", "error\n"));
    let end = run(&mut session, &program("/bin/cat", &[]));
    assert_eq!((end.status, end.stdout), (EndStatus::Exited(0), Vec::new()), "stdin is empty");
}

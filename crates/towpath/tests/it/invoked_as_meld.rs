//! `meld`: the same documents under the other program's name.

use crate::support::{Printed, User};

fn meld(user: &User, arguments: &[&str]) -> Printed {
    user.towpath(&[&["as", "meld"], arguments].concat())
}

#[test]
fn the_result_is_written_beside_the_document() {
    let user = User::new().file("d/guide.mld", ">> a comment\n@run [echo hi]\n");
    meld(&user, &["d/guide.mld"]).exits(0).prints("").reports("wrote d/guide.o.md");
    assert_eq!(user.read("d/guide.o.md"), "hi\n");
    meld(&user, &["d/guide.mld"]).exits(2).reports("d/guide.o.md exists; to replace it: --force");
    user.write("d/guide.mld", "@run [echo new]\n");
    meld(&user, &["d/guide.mld", "--force"]).exits(0);
    assert_eq!(user.read("d/guide.o.md"), "new\n");
    meld(&user, &["d/guide.mld", "--stdout"]).exits(0).prints("new\n");
    meld(&user, &["d/guide.mld", "-o", "x.md"]).exits(0);
    assert_eq!(user.read("x.md"), "new\n");
}

#[test]
fn what_has_no_meaning_here_is_refused_with_what_to_use() {
    let user = User::new().file("a.md", "@embed [$HOMEPATH/x]\n").file("h/x", "H\n");
    for (arguments, why) in [
        (&["init"][..], "a document needs no project"),
        (&["debug-resolution", "a.md"], "--verbose"),
        (&["debug-transform", "a.md"], "--format json"),
        (&["a.md", "-f", "xml"], "turned headings into tags"),
        (&["a.md", "-f", "pdf"], "unknown format"),
        (&["-"], "use --stdout or -o"),
        (&[], "FILE"),
    ] {
        meld(&user, arguments).exits(2).reports(why);
    }
    meld(&user, &["a.md", "--stdout", "--home-path", "h", "--permissive", "-f", "markdown"])
        .exits(0)
        .prints("H\n");
}

#[test]
fn what_means_something_else_here_is_never_silent() {
    let user = User::new().file("src/x", "");
    for (text, why) in [
        (
            "@path src = \"$PROJECTPATH/src\"\n@run [ls -la $src]\n",
            "error: `$src` is a variable of the shell",
        ),
        ("@path src = \"$PROJECTPATH/src\"\n@run [rm -rf ${src}/cache]\n", "error: `$src` is"),
    ] {
        user.write("a.mld", text);
        meld(&user, &["a.mld", "--stdout"]).exits(2).prints("").reports(why);
    }
    for (text, why) in [
        ("@call x\n", "there is no such directive"),
        ("@var x = \"y\"\n", "this looks like a directive"),
        ("@path p = \"$./x\"\nsee $p\n", "`$p` is text in prose"),
        ("@text x = \"y\"\n{{x\n", "a reference ends with }}"),
        ("@text x = \"y\"\n{{x>>upper}}\n", "a reference has no format"),
    ] {
        user.write("b.md", text);
        meld(&user, &["b.md", "--stdout"]).exits(0).reports(why);
    }
}

#[test]
fn the_name_decides_and_not_the_file() {
    let user = User::new().file("x.meld.md", ">> a comment\n@text role = \"R\"\n@embed {{role}}\n");
    meld(&user, &["x.meld.md", "--stdout", "--strict"]).exits(0).prints("R\n");
    user.write("y.mld", "@run [false | cat; echo survived]\n");
    meld(&user, &["y.mld", "--stdout"]).exits(0).prints("survived\n");
}

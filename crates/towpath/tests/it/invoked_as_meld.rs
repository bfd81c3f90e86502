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

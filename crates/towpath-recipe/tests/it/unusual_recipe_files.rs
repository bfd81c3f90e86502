//! Files that are recipes and files that cannot be.

use crate::temporary_project::{Project, calls, shell};
use std::fs;
use towpath_recipe::edited;

#[test]
fn files_that_cannot_be_recipes() {
    let project = Project::new(&[("empty.yaml", ""), ("a.yaml", &calls("a", "bad"))]);
    fs::write(project.path("bad.yaml"), b"name: x\nsteps: \xff\n").unwrap();
    fs::write(project.path("huge.yaml"), vec![b' '; towpath_recipe::MAX_BYTES + 1]).unwrap();
    fs::write(project.path("fits.yaml"), vec![b' '; towpath_recipe::MAX_BYTES]).unwrap();
    let reported = |name: &str| project.report(&project.named(name));
    assert_eq!(
        reported("empty.yaml"),
        "error[empty-file] @/empty.yaml:1:1 `` @/empty.yaml is empty | a recipe needs `name` and \
         `steps`\n"
    );
    assert_eq!(
        reported("huge.yaml"),
        "error[too-large] @/huge.yaml is larger than 1000000 bytes\n"
    );
    assert!(reported("fits.yaml").starts_with("error[empty-file]"));
    assert_eq!(
        reported("bad.yaml"),
        "error[not-utf8] @/bad.yaml:2:8 `\u{fffd}` @/bad.yaml is not UTF-8 text: line 2 | this \
         byte is no text\n"
    );
    assert!(
        reported("a.yaml").starts_with("error[not-utf8] @/a.yaml:4:13 `bad`"),
        "{}",
        reported("a.yaml")
    );
}

#[test]
fn a_byte_order_mark_is_skipped() {
    let project =
        |command: &str| Project::new(&[("a.yaml", &format!("\u{feff}{}", shell("a", command)))]);
    let unset = project("echo {{é}}");
    let report = unset.report(&unset.named("a.yaml"));
    assert!(report.contains(":4:19 `{{é}}`"), "{report}");
    let sound = project("echo é");
    assert!(edited(&sound.named("a.yaml").plan.unwrap()).is_empty());
}

#[test]
fn a_recipe_may_come_through_a_pipe() {
    let project = Project::new(&[]);
    let pipe = project.path("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let writer = std::thread::spawn(move || fs::write(pipe, shell("piped", "echo")).unwrap());
    let plan = project.named("pipe").plan.unwrap();
    writer.join().unwrap();
    assert_eq!(plan.recipes[0].path, None);
    assert!(edited(&plan).is_empty());
}

//! What came of a run, in one value.

use crate::support::Workspace;

#[test]
fn an_output_that_stays_on_disk_is_in_the_result() {
    let workspace = Workspace::new("name: r\nsteps:\n  - {id: big, command: 'seq 100000'}\n");
    let result = workspace.runner().run("recipe.yaml").expect("a result");
    let output = result.step("big").unwrap().output.as_deref().unwrap_or_default();
    assert!(output.len() > 500_000 && output.ends_with("\n100000"), "{} bytes", output.len());
}

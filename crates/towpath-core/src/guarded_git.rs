//! The one list of guards for every call of git that towpath makes itself. A clone can bring a folder
//! that is a git directory, with a configuration of its own; and no hook or file monitor is started
//! for a call that the user did not type. Filters of the repository that git finds do run: without
//! those of git-lfs or git-crypt, other contents would be staged or checked out. Nothing here starts
//! a program.

/// Settings for one call, `-c` each. They outrank every file.
pub const GIT_GUARDS: [&str; 6] = [
    "safe.bareRepository=explicit",
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.askPass=",
    "protocol.ext.allow=never",
    "submodule.recurse=false",
];

/// Variables that would make git work in another repository than the one we name.
pub const GIT_FOREIGN: [&str; 7] = [
    "GIT_DIR",
    "GIT_INDEX_FILE",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
];

/// The beginning of a bash script of ours in which `git` is guarded.
pub fn guarded_git() -> String {
    let guards: Vec<String> = GIT_GUARDS.iter().map(|guard| format!("-c {guard}")).collect();
    format!(
        "unset {}\ngit() {{ command git {} \"$@\"; }}\n",
        GIT_FOREIGN.join(" "),
        guards.join(" ")
    )
}

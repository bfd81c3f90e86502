//! Files at an address: the hash that a user gives, or that of the first download.

use super::release_server::{ReleaseServer, archive};
use super::{GREET, create, visible};
use crate::support::User;
use sha2::{Digest as _, Sha256};
use std::fs;

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_file_must_have_the_hash_that_the_user_gives() {
    let (user, server) = (User::on_disk(), ReleaseServer::start());
    let bytes = archive(&user, "greet", "1.2.0", &[("greet", GREET)]);
    let right = sha256(&bytes);
    server.put("greet-1.2.0.tar.gz", bytes);
    let url = server.url("greet-1.2.0.tar.gz");
    let wrong = "ab".repeat(32);
    create(&user, "greet", &url, &["--sha256", &wrong]).exits(1).reports(&wrong).reports(&right);
    assert_eq!(visible(&user), Vec::<String>::new());
    create(&user, "greet", &url, &["--sha256", "abc"]).exits(2).reports("64 hexadecimal digits");
    user.towpath(&["tool", "create", "greet", "--from", "npm:greet", "--sha256", &right])
        .exits(2)
        .reports("--sha256 is for url: sources");
    let printed = create(&user, "greet", &url, &["--sha256", &right.to_uppercase()]).exits(0);
    assert!(!printed.stderr.contains("no --sha256"), "{}", printed.stderr);
    let recipe = fs::read_to_string(user.path("home/config/tools/greet.toml")).expect("a recipe");
    assert!(recipe.contains(&right), "{recipe}");
}

#[test]
fn without_a_hash_that_of_the_first_download_is_recorded() {
    let (user, server) = (User::on_disk(), ReleaseServer::start());
    let url = server.tool(&user, "greet", "1.2.0", GREET);
    let printed = create(&user, "greet", &url, &[]).exits(0);
    let note = "no --sha256: the hash of this download is recorded, sha256:";
    let recorded = printed.stderr.split(note).nth(1).and_then(|rest| rest.get(..64));
    let recipe = fs::read_to_string(user.path("home/config/tools/greet.toml")).expect("a recipe");
    assert!(recipe.contains(recorded.expect("a hash")), "{}", printed.stderr);
    // Other bytes of the same version are not what is installed.
    create(&user, "greet", &url, &[]).exits(0).shows("greet 1.2.0 is installed");
    let bytes = archive(&user, "greet", "1.2.0", &[("greet", &GREET.replace("hello", "hi"))]);
    let hash = sha256(&bytes);
    server.put("greet-1.2.0.tar.gz", bytes);
    user.towpath(&["tool", "update"]).exits(0).shows("the only version of its address");
    create(&user, "greet", &url, &[])
        .exits(1)
        .reports(&format!("has the SHA-256 {hash}, expected"));
    create(&user, "greet", &url, &["--sha256", &hash]).exits(0).shows("greet 1.2.0 installed in");
    let output = std::process::Command::new(user.path("home/data/bin/greet")).output();
    assert_eq!(output.expect("it starts").stdout, b"hi\n");
}

#[test]
fn an_address_without_encryption_needs_a_hash() {
    let user = User::on_disk();
    let from = ["tool", "create", "greet", "--from", "url:http://tools.invalid/greet-1.0.tar.gz"];
    user.towpath(&from).exits(2).reports("use https").reports("--sha256 HEX");
    let hash = "ab".repeat(32);
    let printed = user.towpath(&[&from[..], &["--sha256", &hash]].concat()).exits(1);
    assert!(!printed.stderr.contains("use https"), "{}", printed.stderr);
}

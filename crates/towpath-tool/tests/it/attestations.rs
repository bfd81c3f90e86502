//! Attestations of an authority of our own, which `tests/attestations/make.js` makes: right ones,
//! and each part of them changed.

use proptest::prelude::*;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256, Sha512};
use std::fs;
use std::path::Path;
use std::sync::LazyLock;
use towpath_tool::attestation::{
    Attestation, AttestationError, AttestedFile, Signer, TrustRoot, bundles, verify_bundle,
};

const REPOSITORY: &str = "https://code.example/acme/tool";
const PACKAGE: &str = "a package\n";

fn stored(name: &str) -> String {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/attestations");
    fs::read_to_string(directory.join(name)).unwrap()
}

static TRUST: LazyLock<TrustRoot> =
    LazyLock::new(|| TrustRoot::parse(&stored("trusted_root.json")).unwrap());

fn sha256(bytes: &str) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn sha512(bytes: &str) -> String {
    let hex: String = Sha512::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha512-{hex}")
}

fn package(bytes: &str) -> AttestedFile {
    AttestedFile::npm("@acme/tool", "1.2.3", &sha512(bytes)).unwrap()
}

fn signer() -> Signer {
    Signer {
        repository: Some(REPOSITORY.to_owned()),
        workflow: format!("{REPOSITORY}/.github/workflows/release.yml@refs/tags/v1.2.3"),
        issuer: "https://tokens.code.example".to_owned(),
    }
}

fn right_bundle() -> Value {
    serde_json::from_str(&bundles(&stored("npm.json")).unwrap()[0]).unwrap()
}

fn problem<T: std::fmt::Debug>(result: Result<T, AttestationError>) -> String {
    result.unwrap_err().to_string()
}

/// The error about the right bundle after a change.
fn changed(change: impl FnOnce(&mut Value)) -> String {
    let mut bundle = right_bundle();
    change(&mut bundle);
    problem(verify_bundle(&bundle.to_string(), &package(PACKAGE), &TRUST))
}

#[track_caller]
fn assert_starts(message: &str, start: &str) {
    assert!(message.starts_with(start), "{message}");
}

#[test]
fn a_package_of_npm_is_verified_by_its_provenance_alone() {
    let answer = stored("npm.json");
    assert_eq!(answer.matches("\"bundle\"").count(), 2);
    assert_eq!(bundles(&answer).unwrap().len(), 1);
    let found = Attestation::check(&answer, &package(PACKAGE), &TRUST).unwrap();
    assert_eq!(found, Attestation::Verified(signer()));
}

#[test]
fn a_file_of_pypi_is_verified_however_its_name_is_spelled() {
    let answer = stored("pypi.json");
    for name in [
        "acme_tool-1.2.3-py2.py3-none-any.whl",
        "Acme.Tool-1.2.3-py3.py2-none-any.whl",
        "acme-tool-1.2.3.tar.gz",
    ] {
        let file = AttestedFile::pypi(name, &sha256("a wheel\n")).unwrap();
        let found = Attestation::check(&answer, &file, &TRUST);
        if name.ends_with(".whl") {
            assert_eq!(found.unwrap(), Attestation::Verified(signer()), "{name}");
        } else {
            let expected = "the attestation of `acme-tool-1.2.3.tar.gz` is for \
                            `acme_tool-1.2.3-py2.py3-none-any.whl`";
            assert_eq!(problem(found), expected);
        }
    }
}

#[test]
fn a_file_of_github_is_verified_by_its_repository() {
    let answer = stored("github.json");
    let check = |repository: &str| {
        let digest = format!("sha256:{}", sha256("an archive\n"));
        let file = AttestedFile::github(repository, "tool.tar.gz", &digest).unwrap();
        Attestation::check(&answer, &file, &TRUST)
    };
    assert_eq!(check("https://code.example/Acme/tool").unwrap(), Attestation::Verified(signer()));
    assert_eq!(
        problem(check("https://code.example/other/tool")),
        "the attestation of `tool.tar.gz` is of the repository \
         `https://code.example/acme/tool`"
    );
}

#[test]
fn an_answer_without_provenance_is_absence() {
    let npm: Value = serde_json::from_str(&stored("npm.json")).unwrap();
    let publication = json!({ "attestations": [npm["attestations"][0]] });
    let only_address =
        json!({ "attestations": [{ "bundle": null, "bundle_url": "https://storage.example" }] });
    for answer in [
        json!({ "attestations": [] }),
        json!({ "version": 1, "attestation_bundles": [] }),
        json!({ "version": 1, "attestation_bundles": [{ "publisher": {}, "attestations": [] }] }),
        publication,
        only_address,
    ] {
        let found = Attestation::check(&answer.to_string(), &package(PACKAGE), &TRUST).unwrap();
        assert_eq!(found, Attestation::Absent, "{answer}");
    }
}

#[test]
fn an_answer_of_another_shape_is_an_error() {
    let own = |bundle: Value| json!({ "attestations": [{ "bundle": bundle }] }).to_string();
    for answer in [
        String::new(),
        "<html>".to_owned(),
        json!({ "attestations": "none" }).to_string(),
        json!({ "attestation_bundles": [{ "attestations": [{}] }] }).to_string(),
        own(json!({})),
        own(json!("text")),
    ] {
        let message = problem(Attestation::check(&answer, &package(PACKAGE), &TRUST));
        assert_starts(&message, "the attestation of npm:@acme/tool 1.2.3 cannot be read: ");
    }
}

#[test]
fn other_bytes_are_refused() {
    assert_eq!(
        problem(Attestation::check(&stored("npm.json"), &package("other bytes"), &TRUST)),
        "the attestation of npm:@acme/tool 1.2.3 is for other bytes"
    );
    let of_other_algorithm = AttestedFile::npm("@acme/tool", "1.2.3", &sha256(PACKAGE)).unwrap();
    assert_eq!(
        problem(Attestation::check(&stored("npm.json"), &of_other_algorithm, &TRUST)),
        "the attestation of npm:@acme/tool 1.2.3 is for other bytes"
    );
}

#[test]
fn the_same_bytes_under_another_name_or_version_are_refused() {
    for (name, version) in [("@acme/tool", "1.2.4"), ("acme-tool", "1.2.3"), ("@acme/to", "1.2.3")]
    {
        let file = AttestedFile::npm(name, version, &sha512(PACKAGE)).unwrap();
        assert_eq!(
            problem(Attestation::check(&stored("npm.json"), &file, &TRUST)),
            format!("the attestation of npm:{name} {version} is for `pkg:npm/%40acme/tool@1.2.3`")
        );
    }
    for name in ["acme_tool-1.2.4-py2.py3-none-any.whl", "acme-1.2.3-py3-none-any.whl", "tool"] {
        let file = AttestedFile::pypi(name, &sha256("a wheel\n")).unwrap();
        let found = "`acme_tool-1.2.3-py2.py3-none-any.whl`";
        assert_eq!(
            problem(Attestation::check(&stored("pypi.json"), &file, &TRUST)),
            format!("the attestation of `{name}` is for {found}")
        );
    }
}

#[test]
fn a_changed_signature_is_refused() {
    let late: Value = serde_json::from_str(&stored("late.json")).unwrap();
    let signature = "/dsseEnvelope/signatures/0/sig";
    let message = changed(|bundle| {
        *bundle.pointer_mut(signature).unwrap() = late.pointer(signature).unwrap().clone();
    });
    let start = "the attestation of npm:@acme/tool 1.2.3 has a signature that does not match: ";
    assert_starts(&message, start);
}

#[test]
fn a_changed_statement_is_refused() {
    let pypi: Value = serde_json::from_str(&bundles(&stored("pypi.json")).unwrap()[0]).unwrap();
    let message = changed(|bundle| {
        bundle["dsseEnvelope"]["payload"] = pypi["dsseEnvelope"]["payload"].clone();
    });
    let start = "the attestation of npm:@acme/tool 1.2.3 has a signature that does not match: ";
    assert_starts(&message, start);
}

#[test]
fn a_certificate_of_another_authority_is_refused() {
    let start = "the attestation of npm:@acme/tool 1.2.3 is not signed by a trusted authority: ";
    let other = verify_bundle(&stored("other-authority.json"), &package(PACKAGE), &TRUST);
    assert_starts(&problem(other), start);

    let shipped = TrustRoot::read(Path::new("/nonexistent")).unwrap();
    let ours = verify_bundle(&right_bundle().to_string(), &package(PACKAGE), &shipped);
    assert_starts(&problem(ours), "the attestation of npm:@acme/tool 1.2.3 is not ");
}

#[test]
fn a_certificate_outside_of_the_log_of_certificates_is_refused() {
    let mut root: Value = serde_json::from_str(&stored("trusted_root.json")).unwrap();
    root["ctlogs"] = root["tlogs"].clone();
    let trust = TrustRoot::parse(&root.to_string()).unwrap();
    let result = verify_bundle(&right_bundle().to_string(), &package(PACKAGE), &trust);
    let start = "the attestation of npm:@acme/tool 1.2.3 is not signed by a trusted authority: ";
    assert_starts(&problem(result), start);
}

#[test]
fn a_missing_or_changed_entry_of_the_log_is_refused() {
    let start = "the attestation of npm:@acme/tool 1.2.3 is not in the log: ";
    let message = changed(|bundle| bundle["verificationMaterial"]["tlogEntries"] = json!([]));
    assert_starts(&message, start);
    let late: Value = serde_json::from_str(&stored("late.json")).unwrap();
    let late = &late["verificationMaterial"]["tlogEntries"][0];
    for part in ["canonicalizedBody", "inclusionPromise", "inclusionProof", "integratedTime"] {
        let message = changed(|bundle| {
            bundle["verificationMaterial"]["tlogEntries"][0][part] = late[part].clone();
        });
        assert_starts(&message, start);
    }
    let message = changed(|bundle| {
        bundle["verificationMaterial"]["tlogEntries"][0]["inclusionProof"] = Value::Null;
    });
    assert_starts(&message, start);
    let other = verify_bundle(&stored("other-log.json"), &package(PACKAGE), &TRUST);
    assert_starts(&problem(other), start);
}

#[test]
fn the_entry_of_another_attestation_is_refused() {
    let pypi: Value = serde_json::from_str(&bundles(&stored("pypi.json")).unwrap()[0]).unwrap();
    let message = changed(|bundle| {
        bundle["verificationMaterial"]["tlogEntries"] =
            pypi["verificationMaterial"]["tlogEntries"].clone();
    });
    assert_starts(&message, "the attestation of npm:@acme/tool 1.2.3 is not in the log: ");
}

/// All stored certificates have expired; the log's time is inside the life of the right one.
#[test]
fn the_time_of_the_log_is_the_time_that_counts() {
    let right = right_bundle().to_string();
    assert!(right.contains("\"integratedTime\":\"1748779200\""), "{right}");
    assert_eq!(verify_bundle(&right, &package(PACKAGE), &TRUST).unwrap(), signer());
    assert_starts(
        &problem(verify_bundle(&stored("late.json"), &package(PACKAGE), &TRUST)),
        "the attestation of npm:@acme/tool 1.2.3 is not signed by a trusted authority: certificate \
         chain is invalid: certificate chain validation failed: CertExpired",
    );
    let message = changed(|bundle| {
        bundle["verificationMaterial"]["tlogEntries"][0]["inclusionPromise"] = Value::Null;
    });
    assert_starts(
        &message,
        "the attestation of npm:@acme/tool 1.2.3 was not signed at a trusted time: ",
    );
}

#[test]
fn a_signature_of_bare_bytes_is_no_attestation() {
    let message = changed(|bundle| {
        let bundle = bundle.as_object_mut().unwrap();
        bundle.remove("dsseEnvelope");
        bundle.insert("messageSignature".to_owned(), json!({ "signature": "AAAA" }));
    });
    let expected = "the attestation of npm:@acme/tool 1.2.3 cannot be read: it has no statement";
    assert_eq!(message, expected);
}

#[test]
fn a_weak_digest_is_refused() {
    let strong = format!("sha1-AAAA {} sha256-{}", sha512(PACKAGE), sha256(PACKAGE));
    let file = AttestedFile::npm("@acme/tool", "1.2.3", &strong).unwrap();
    verify_bundle(&right_bundle().to_string(), &file, &TRUST).unwrap();
    assert_eq!(
        problem(AttestedFile::npm("x", "1.0.0", "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=")),
        "the attestation of npm:x 1.0.0 cannot be checked: `sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=` \
         is neither SHA-256 nor SHA-512"
    );
}

/// Our list of authorities with one date replaced, in a directory of its own.
fn list_of(date: &str) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let mut root: Value = serde_json::from_str(&stored("trusted_root.json")).unwrap();
    root["certificateAuthorities"][0]["validFor"]["end"] = json!(date);
    fs::write(directory.path().join("trusted_root.json"), root.to_string()).unwrap();
    directory
}

#[test]
fn a_newer_list_of_authorities_is_used_and_an_older_one_is_not() {
    let verify = |directory: &Path| {
        let trust = TrustRoot::read(directory).unwrap();
        verify_bundle(&right_bundle().to_string(), &package(PACKAGE), &trust)
    };
    assert_eq!(verify(list_of("2999-01-01T00:00:00Z").path()).unwrap(), signer());
    verify(list_of("2025-06-02T00:00:00Z").path()).unwrap_err();
    verify(tempfile::tempdir().unwrap().path()).unwrap_err();
}

#[test]
fn a_damaged_list_of_authorities_is_an_error() {
    for text in ["", "{}", "{\"mediaType\": 1}"] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("trusted_root.json");
        fs::write(&path, text).unwrap();
        let start = format!("`{}`, the list of trusted authorities: ", path.display());
        assert_starts(&problem(TrustRoot::read(directory.path())), &start);
    }
}

#[test]
fn an_attestation_is_written_and_read_back() {
    let verified = Attestation::Verified(signer());
    let text = toml::to_string(&verified).unwrap();
    assert_eq!(
        text,
        "status = \"verified\"\n\
         repository = \"https://code.example/acme/tool\"\n\
         workflow = \
         \"https://code.example/acme/tool/.github/workflows/release.yml@refs/tags/v1.2.3\"\n\
         issuer = \"https://tokens.code.example\"\n"
    );
    assert_eq!(toml::from_str::<Attestation>(&text).unwrap(), verified);
    let absent = serde_json::to_string(&Attestation::Absent).unwrap();
    assert_eq!(absent, r#"{"status":"absent"}"#);
    assert_eq!(serde_json::from_str::<Attestation>(&absent).unwrap(), Attestation::Absent);
}

/// Everything that reads foreign text, which must end without a panic.
fn read_all(text: &str) {
    let file = package(PACKAGE);
    if let Ok(trust) = TrustRoot::parse(text) {
        let _ = verify_bundle(&right_bundle().to_string(), &file, &trust);
    }
    let _ = bundles(text);
    let _ = Attestation::check(text, &file, &TRUST);
    let _ = AttestedFile::pypi(text, text);
    if let Ok(signer) = verify_bundle(text, &file, &TRUST) {
        assert_eq!(signer, self::signer());
    }
}

fn stored_text() -> impl Strategy<Value = String> {
    let names = vec!["npm.json", "pypi.json", "github.json", "late.json", "trusted_root.json"];
    let right = Just(right_bundle().to_string());
    prop_oneof![right, proptest::sample::select(names).prop_map(stored)]
}

/// The beginning of a text of the stored ones, and its rest without one character.
fn parted() -> impl Strategy<Value = (String, String)> {
    (stored_text(), any::<prop::sample::Index>()).prop_map(|(text, at)| {
        let mut before: Vec<char> = text.chars().collect();
        let after = before.split_off(at.index(before.len()));
        (before.into_iter().collect(), after.into_iter().skip(1).collect())
    })
}

proptest! {
    #[test]
    fn any_text_is_read_without_a_panic(text in ".{0,200}") {
        read_all(&text);
    }

    #[test]
    fn a_cut_answer_is_read_without_a_panic((before, _) in parted()) {
        read_all(&before);
    }

    #[test]
    fn a_changed_answer_is_read_without_a_panic((before, after) in parted(), to in "[ -~]{0,3}") {
        read_all(&format!("{before}{to}{after}"));
    }
}

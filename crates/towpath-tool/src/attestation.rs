//! Attestations of files that registries offer: who built a file, from which repository, signed and
//! entered in a public log. They are verified without a network, against authorities that the
//! program ships or a newer list of them; fetching answers and lists is the caller's.
//!
//! An attestation that is there is right or an error; none is [`Attestation::Absent`]. Whether the
//! signer is the right one for a package is decided where signers are compared, except for GitHub,
//! where the repository is known.
//!
//! Out of scope: GitHub's own authority, which signs without a public log. Its attestations of
//! releases are skipped as not being about a build; those of builds in private repositories are
//! errors.

use ring::{digest, signature};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sigstore_verify::crypto::{self, CryptoProvider, HashContext, SigningScheme};
use sigstore_verify::trust_root::{SIGSTORE_PRODUCTION_TRUSTED_ROOT, TrustedRoot};
use sigstore_verify::types::{ArtifactDigest, Bundle, SignatureContent, Statement};
use sigstore_verify::types::{HashAlgorithm, Sha256Hash, Sha512Hash};
use sigstore_verify::{Error, VerificationPolicy, Verifier, bundle};
use std::path::{Path, PathBuf};
use std::{fs, io};

const TRUST_ROOT: &str = "trusted_root.json";
/// Predicates about a build; npm and GitHub list others too, such as the registry's own note of a
/// publication.
const PROVENANCE: &str = "https://slsa.dev/provenance/";

/// The result for one file, as lock files and records have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "lowercase")]
pub enum Attestation {
    Verified(Signer),
    Absent,
}

/// Claims of a certificate that a trusted authority has signed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signer {
    /// URL of the source; none if no build service has signed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// URL of the workflow with its branch or tag, or an email address.
    pub workflow: String,
    /// The service that vouches for the workflow.
    pub issuer: String,
}

#[derive(Debug, thiserror::Error)]
pub enum AttestationError {
    #[error("the attestation of {file} {problem}")]
    Wrong { file: String, problem: String },
    #[error("`{}`, the list of trusted authorities: {reason}", path.display())]
    TrustRoot { path: PathBuf, reason: String },
}

type Result<T, E = AttestationError> = std::result::Result<T, E>;

/// A file as its registry has it, and whatever its attestation must name.
#[derive(Debug, Clone)]
pub struct AttestedFile {
    /// For messages: `npm:x 1.2.3`
    label: String,
    digest: ArtifactDigest,
    required: RequiredName,
}

#[derive(Debug, Clone)]
enum RequiredName {
    /// Name of the statement's subject, a package URL.
    Package(String),
    /// Name of a wheel or a source archive; spelling and platform tags may differ.
    Distribution(String),
    /// URL of the repository in the certificate. Names of subjects are free there.
    Repository(String),
}

impl Attestation {
    /// The source that a verified build is of: its repository, or whoever has signed.
    pub fn origin(&self) -> Option<&str> {
        match self {
            Attestation::Verified(signer) => {
                Some(signer.repository.as_ref().unwrap_or(&signer.workflow))
            }
            Attestation::Absent => None,
        }
    }

    /// Checks a registry's answer. All bundles in it must be right; the first one names the signer.
    pub fn check(answer: &str, file: &AttestedFile, trust: &TrustRoot) -> Result<Self> {
        let bundles = bundles(answer).map_err(|problem| file.wrong(problem))?;
        let signers = bundles.iter().map(|bundle| verify_bundle(bundle, file, trust));
        let signers = signers.collect::<Result<Vec<_>, _>>()?;
        Ok(signers.into_iter().next().map_or(Attestation::Absent, Attestation::Verified))
    }
}

impl AttestedFile {
    /// A package of npm; `digest` as npm writes it: `sha512-…`.
    pub fn npm(package: &str, version: &str, digest: &str) -> Result<Self> {
        let url = format!("pkg:npm/{}@{version}", package.replacen('@', "%40", 1));
        Self::new(format!("npm:{package} {version}"), digest, RequiredName::Package(url))
    }

    /// A file of PyPI with its SHA-256.
    pub fn pypi(name: &str, digest: &str) -> Result<Self> {
        Self::new(format!("`{name}`"), digest, RequiredName::Distribution(name.to_owned()))
    }

    /// A file of a GitHub release; the URL of the repository as a browser shows it.
    pub fn github(repository: &str, name: &str, digest: &str) -> Result<Self> {
        Self::new(format!("`{name}`"), digest, RequiredName::Repository(repository.to_owned()))
    }

    fn new(label: String, digest: &str, required: RequiredName) -> Result<Self> {
        let digests = digest.split_whitespace().filter_map(read_digest);
        let Some(digest) = digests.max_by_key(|digest| digest.as_bytes().len()) else {
            let problem = format!("cannot be checked: `{digest}` is neither SHA-256 nor SHA-512");
            return Err(AttestationError::Wrong { file: label, problem });
        };
        Ok(AttestedFile { label, digest, required })
    }

    pub(crate) fn wrong(&self, problem: String) -> AttestationError {
        AttestationError::Wrong { file: self.label.clone(), problem }
    }

    /// Compares the subject of a verified statement that has the digest, or the repository of the
    /// signer.
    fn check_names(&self, statement: &Statement, signer: &Signer) -> Result<(), String> {
        let hash = self.digest.as_bytes();
        let mut subjects = statement.subject.iter().filter(|subject| {
            subject.digest.sha256.is_some_and(|own| own.as_slice() == hash)
                || subject.digest.sha512.is_some_and(|own| own.as_slice() == hash)
        });
        let found = subjects.clone().next().map_or("", |subject| &subject.name);
        let repository = signer.repository.as_deref().unwrap_or(&signer.workflow);
        let is_same = match &self.required {
            RequiredName::Package(url) => subjects.any(|subject| subject.name == *url),
            RequiredName::Distribution(file) => {
                subjects.any(|subject| distribution(&subject.name) == distribution(file))
            }
            RequiredName::Repository(url) if url.eq_ignore_ascii_case(repository) => true,
            RequiredName::Repository(_) => {
                return Err(format!("is of the repository `{repository}`"));
            }
        };
        is_same.then_some(()).ok_or_else(|| format!("is for `{found}`"))
    }
}

/// `sha512-BASE64`, `sha256:HEX`, or a SHA-256 in hexadecimal digits.
fn read_digest(text: &str) -> Option<ArtifactDigest> {
    let (algorithm, value) = text.split_once(['-', ':']).unwrap_or(("sha256", text));
    match algorithm {
        "sha256" => Some(ArtifactDigest::sha256(Sha256Hash::from_hex_or_base64(value).ok()?)),
        "sha512" => {
            let hash = Sha512Hash::from_hex_or_base64(value).ok()?;
            ArtifactDigest::new(HashAlgorithm::Sha2512, hash).ok()
        }
        _ => None,
    }
}

/// Project and version of a file of PyPI, in one spelling.
fn distribution(file: &str) -> (String, String) {
    let parts = match file.strip_suffix(".whl").map(|wheel| wheel.split_once('-')) {
        Some(parts) => parts.map(|(name, rest)| (name, rest.split('-').next().unwrap_or(rest))),
        None => file.rsplit_once('-'),
    };
    let (project, version) = parts.unwrap_or((file, ""));
    (project.to_lowercase().replace(['-', '.'], "_"), version.to_lowercase())
}

/// The authorities, logs and time services whose signatures count.
#[derive(Debug, Clone)]
pub struct TrustRoot(TrustedRoot);

impl TrustRoot {
    /// The list in `directory`, or the one that the program ships if there is none or an older one.
    ///
    /// A list has no date of its own; the latest date in it, at which something begins or ends, is
    /// its age.
    pub fn read(directory: &Path) -> Result<Self> {
        let path = directory.join(TRUST_ROOT);
        let shipped = TrustRoot::parse(SIGSTORE_PRODUCTION_TRUSTED_ROOT);
        let shipped = shipped.expect("a test reads the list that is compiled in");
        let found = match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(shipped),
            Err(error) => Err(error.to_string()),
            Ok(text) => TrustRoot::parse(&text),
        };
        let found = found.map_err(|reason| AttestationError::TrustRoot { path, reason })?;
        Ok(if found.latest_date() < shipped.latest_date() { shipped } else { found })
    }

    /// Reads a list as Sigstore publishes it.
    pub fn parse(text: &str) -> Result<Self, String> {
        // An error means that it is installed already.
        let _ = crypto::install_default_provider(&Ring);
        let root = TrustedRoot::from_json(text).map_err(|error| error.to_string())?;
        Verifier::new(&root).map_err(|error| error.to_string())?;
        Ok(TrustRoot(root))
    }

    fn latest_date(&self) -> Option<impl Ord + use<>> {
        let logs = self.0.tlogs.iter().map(|log| log.public_key.valid_for);
        let logs = logs.chain(self.0.ctlogs.iter().map(|log| log.public_key.valid_for));
        let authorities = self.0.certificate_authorities.iter().map(|one| one.valid_for);
        let times = self.0.timestamp_authorities.iter().map(|one| one.valid_for);
        let periods = logs.chain(authorities).chain(times).flatten();
        periods.flat_map(|period| [Some(period.start), period.end]).flatten().max()
    }
}

/// Checks that a trusted authority has certified the signer, that the signature, the log and its
/// time are right, and that the signed statement is about the very bytes of `file`.
pub fn verify_bundle(bundle: &str, file: &AttestedFile, trust: &TrustRoot) -> Result<Signer> {
    let verify = || {
        let (bundle, statement) = read_bundle(bundle).map_err(unreadable)?;
        let policy = VerificationPolicy::any_identity();
        let result = sigstore_verify::verify(file.digest.clone(), &bundle, &policy, &trust.0);
        let result = result.map_err(describe)?;
        let signer = || {
            let claims = &result.certificate()?.ci_claims;
            Some(Signer {
                repository: claims.source_repository_uri.clone(),
                workflow: result.identity()?.to_string(),
                issuer: result.issuer()?.to_owned(),
            })
        };
        let signer = signer().ok_or("is signed by a certificate without a name")?;
        file.check_names(&statement, &signer)?;
        Ok(signer)
    };
    verify().map_err(|problem| file.wrong(problem))
}

fn read_bundle(text: &str) -> Result<(Bundle, Statement), String> {
    let bundle = Bundle::from_json(text).map_err(|error| error.to_string())?;
    let SignatureContent::DsseEnvelope(envelope) = &bundle.content else {
        return Err("it has no statement".to_owned());
    };
    let statement = serde_json::from_slice(envelope.payload.as_bytes());
    statement.map(|statement| (bundle, statement)).map_err(|error| error.to_string())
}

fn unreadable(error: impl std::fmt::Display) -> String {
    format!("cannot be read: {error}")
}

fn describe(error: Error) -> String {
    use bundle::Error::{CertificateChainNotAllowed, UnsupportedMediaType};
    match error {
        Error::ArtifactMismatch(_) => "is for other bytes".to_owned(),
        Error::SignatureInvalid(_) => format!("has a signature that does not match: {error}"),
        Error::Certificate(_) => format!("is not signed by a trusted authority: {error}"),
        Error::Timestamp(_) => format!("was not signed at a trusted time: {error}"),
        Error::Bundle(UnsupportedMediaType(_) | CertificateChainNotAllowed(_)) => unreadable(error),
        Error::TransparencyLog(_) | Error::Bundle(_) => format!("is not in the log: {error}"),
        _ => unreadable(error),
    }
}

/// The answer of npm or GitHub (`attestations`, each with a bundle), or of PyPI
/// (`attestation_bundles`, one per publisher, each with `attestations` in the form of PEP 740).
#[derive(Deserialize)]
struct AttestationAnswer {
    #[serde(default)]
    attestations: Vec<Value>,
    #[serde(default)]
    attestation_bundles: Vec<AttestationAnswer>,
}

/// The Sigstore bundles in the answer of npm, PyPI or GitHub: those about a build, and all of
/// PyPI's. A bundle that cannot be read is in, so that it is not taken for absent. GitHub may have
/// an address in the position of a bundle; it is not followed.
pub fn bundles(answer: &str) -> Result<Vec<String>, String> {
    let answer: AttestationAnswer = serde_json::from_str(answer).map_err(unreadable)?;
    let is_provenance = |bundle: &String| {
        let read = read_bundle(bundle);
        read.map_or(true, |(_, statement)| statement.predicate_type.starts_with(PROVENANCE))
    };
    let listed = answer.attestations.iter().map(|listed| &listed["bundle"]);
    let listed = listed.filter(|bundle| !bundle.is_null()).map(Value::to_string);
    let published = answer.attestation_bundles.iter().flat_map(|one| &one.attestations);
    let published = published.map(|attestation| bundle_of_pypi(attestation).to_string());
    Ok(listed.filter(is_provenance).chain(published).collect())
}

fn bundle_of_pypi(attestation: &Value) -> Value {
    let (material, envelope) = (&attestation["verification_material"], &attestation["envelope"]);
    json!({
        "mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json",
        "verificationMaterial": {
            "certificate": { "rawBytes": material["certificate"] },
            "tlogEntries": material["transparency_entries"],
        },
        "dsseEnvelope": {
            "payload": envelope["statement"],
            "payloadType": "application/vnd.in-toto+json",
            "signatures": [{ "sig": envelope["signature"] }],
        },
    })
}

/// The cryptography of our TLS, for Sigstore: the algorithms that its public services and their
/// clients use.
#[derive(Debug)]
struct Ring;

struct RingHash(digest::Context);

impl HashContext for RingHash {
    fn update(&mut self, data: &[u8]) {
        self.0.update(data);
    }

    fn finalize(self: Box<Self>) -> Vec<u8> {
        self.0.finish().as_ref().to_vec()
    }
}

impl CryptoProvider for Ring {
    fn hash(&self, algorithm: HashAlgorithm) -> crypto::Result<Box<dyn HashContext>> {
        let algorithm = match algorithm {
            HashAlgorithm::Sha2256 => &digest::SHA256,
            HashAlgorithm::Sha2384 => &digest::SHA384,
            HashAlgorithm::Sha2512 => &digest::SHA512,
            other => return Err(crypto::Error::UnsupportedAlgorithm(other.to_string())),
        };
        Ok(Box::new(RingHash(digest::Context::new(algorithm))))
    }

    fn verify_raw(
        &self,
        scheme: SigningScheme,
        key: &[u8],
        data: &[u8],
        signature: &[u8],
    ) -> crypto::Result<()> {
        let algorithm: &dyn signature::VerificationAlgorithm = match scheme {
            SigningScheme::EcdsaP256Sha256 => &signature::ECDSA_P256_SHA256_ASN1,
            SigningScheme::EcdsaP256Sha384 => &signature::ECDSA_P256_SHA384_ASN1,
            SigningScheme::EcdsaP384Sha256 => &signature::ECDSA_P384_SHA256_ASN1,
            SigningScheme::EcdsaP384Sha384 => &signature::ECDSA_P384_SHA384_ASN1,
            SigningScheme::Ed25519 => &signature::ED25519,
            other => return Err(crypto::Error::UnsupportedAlgorithm(other.name().to_owned())),
        };
        let key = signature::UnparsedPublicKey::new(algorithm, key);
        let refused = |_| crypto::Error::Verification(format!("{} is wrong", scheme.name()));
        key.verify(data, signature).map_err(refused)
    }

    /// Needed for bundles without a statement only, which are refused before.
    fn verify_prehashed(
        &self,
        _: SigningScheme,
        _: &[u8],
        _: &[u8],
        _: &[u8],
    ) -> crypto::Result<()> {
        Err(crypto::Error::UnsupportedAlgorithm("a signature of a digest".to_owned()))
    }
}

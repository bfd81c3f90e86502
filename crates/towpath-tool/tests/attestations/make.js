// Writes the files beside it: attestations as npm, PyPI and GitHub answer them, by an authority of
// our own, and the list that trusts it. The keys are new each time and are not kept.
//
//     npm install --prefix DIR @sigstore/mock@0.12.1
//     NODE_PATH=DIR/node_modules node make.js

const crypto = require("node:crypto");
const fs = require("node:fs");
const path = require("node:path");
const { initializeCA, initializeCTLog, initializeTLog } = require("@sigstore/mock");

const LOG = "https://log.example";
// Certificates live for ten minutes from here: all of them have expired.
const SIGNED = new Date("2025-06-01T12:00:00Z");
const LATE = new Date("2025-06-01T13:00:00Z");
const BEGIN = { start: "2025-01-01T00:00:00Z" };

const REPOSITORY = "https://code.example/acme/tool";
const WORKFLOW = `${REPOSITORY}/.github/workflows/release.yml@refs/tags/v1.2.3`;
const CLAIMS = {
  "1.3.6.1.4.1.57264.1.8": "https://tokens.code.example",
  "1.3.6.1.4.1.57264.1.12": REPOSITORY,
};

const PROVENANCE = "https://slsa.dev/provenance/v1";
const PUBLICATION = "https://registry.example/attestation/publish/v0.1";

const newKeys = (namedCurve) => crypto.generateKeyPairSync("ec", { namedCurve });
const der = (key) => key.export({ format: "der", type: "spki" });
const base64 = (bytes) => Buffer.from(bytes).toString("base64");
const hash = (algorithm, bytes) => crypto.createHash(algorithm).update(bytes).digest("hex");

async function authority() {
  const log = newKeys("prime256v1");
  const certificateLog = newKeys("prime256v1");
  const ctLog = await initializeCTLog(certificateLog, SIGNED);
  const ca = await initializeCA(newKeys("secp384r1"), ctLog, SIGNED);
  const tlog = (time) => initializeTLog(LOG, log, time);
  return { ca, log, certificateLog, tlog: await tlog(SIGNED), lateLog: await tlog(LATE) };
}

function statement(name, algorithm, bytes, predicateType) {
  const subject = [{ name, digest: { [algorithm]: hash(algorithm, bytes) } }];
  return { _type: "https://in-toto.io/Statement/v1", subject, predicateType, predicate: {} };
}

function sign(statement, keys) {
  const payloadType = "application/vnd.in-toto+json";
  const payload = Buffer.from(JSON.stringify(statement));
  const head = `DSSEv1 ${payloadType.length} ${payloadType} ${payload.length} `;
  const signed = Buffer.concat([Buffer.from(head), payload]);
  const sig = base64(crypto.sign("sha256", signed, keys.privateKey));
  return { payload: base64(payload), payloadType, signatures: [{ sig }] };
}

async function logged(tlog, envelope, verifier) {
  const payload = Buffer.from(envelope.payload, "base64");
  const body = {
    apiVersion: "0.0.1",
    kind: "dsse",
    spec: {
      envelopeHash: { algorithm: "sha256", value: hash("sha256", JSON.stringify(envelope)) },
      payloadHash: { algorithm: "sha256", value: hash("sha256", payload) },
      signatures: [{ signature: envelope.signatures[0].sig, verifier: base64(verifier) }],
    },
  };
  const [entry] = Object.values(await tlog.log(body));
  const proof = entry.verification.inclusionProof;
  return {
    logIndex: String(entry.logIndex),
    logId: { keyId: base64(Buffer.from(entry.logID, "hex")) },
    kindVersion: { kind: "dsse", version: "0.0.1" },
    integratedTime: String(entry.integratedTime),
    inclusionPromise: { signedEntryTimestamp: entry.verification.signedEntryTimestamp },
    inclusionProof: {
      logIndex: String(proof.logIndex),
      rootHash: base64(Buffer.from(proof.rootHash, "hex")),
      treeSize: String(proof.treeSize),
      hashes: proof.hashes,
      checkpoint: { envelope: proof.checkpoint },
    },
    canonicalizedBody: entry.body,
  };
}

const bundle = (verificationMaterial, dsseEnvelope) => ({
  mediaType: "application/vnd.dev.sigstore.bundle.v0.3+json",
  verificationMaterial,
  dsseEnvelope,
});

// A bundle whose certificate is of `ca` and whose entry is in `tlog`.
async function attest(statement, ca, tlog) {
  const keys = newKeys("prime256v1");
  const extensions = Object.entries(CLAIMS).map(([oid, value]) => ({ oid, value }));
  const subject = { publicKey: der(keys.publicKey), subjectAltName: WORKFLOW, extensions };
  const certificate = await ca.issueCertificate(subject);
  const lines = base64(certificate).match(/.{1,64}/g).join("\n");
  const pem = `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
  const envelope = sign(statement, keys);
  const tlogEntries = [await logged(tlog, envelope, pem)];
  return bundle({ certificate: { rawBytes: base64(certificate) }, tlogEntries }, envelope);
}

// The note of a registry, signed by its key.
async function attestPublication(statement, tlog) {
  const keys = newKeys("prime256v1");
  const envelope = sign(statement, keys);
  const pem = keys.publicKey.export({ format: "pem", type: "spki" });
  const tlogEntries = [await logged(tlog, envelope, pem)];
  return bundle({ publicKey: { hint: "registry.example" }, tlogEntries }, envelope);
}

function asPypi({ verificationMaterial, dsseEnvelope }) {
  const verification_material = {
    certificate: verificationMaterial.certificate.rawBytes,
    transparency_entries: verificationMaterial.tlogEntries,
  };
  const envelope = { statement: dsseEnvelope.payload, signature: dsseEnvelope.signatures[0].sig };
  const publisher = { kind: "GitHub", repository: "acme/tool", workflow: "release.yml" };
  const attestations = [{ version: 1, verification_material, envelope }];
  return { version: 1, attestation_bundles: [{ publisher, attestations }] };
}

function trust({ ca, log, certificateLog }) {
  const logOf = ({ publicKey }) => ({
    baseUrl: LOG,
    hashAlgorithm: "SHA2_256",
    publicKey: {
      rawBytes: base64(der(publicKey)),
      keyDetails: "PKIX_ECDSA_P256_SHA_256",
      validFor: BEGIN,
    },
    logId: { keyId: base64(Buffer.from(hash("sha256", der(publicKey)), "hex")) },
  });
  const certificates = [{ rawBytes: base64(ca.rootCertificate) }];
  return {
    mediaType: "application/vnd.dev.sigstore.trustedroot+json;version=0.1",
    tlogs: [logOf(log)],
    certificateAuthorities: [
      { uri: "https://authority.example", certChain: { certificates }, validFor: BEGIN },
    ],
    ctlogs: [logOf(certificateLog)],
    timestampAuthorities: [],
  };
}

async function main() {
  const ours = await authority();
  const others = await authority();
  const { ca, tlog, lateLog } = ours;

  const packed = statement("pkg:npm/%40acme/tool@1.2.3", "sha512", "a package\n", PROVENANCE);
  const publication = { ...packed, predicateType: PUBLICATION };
  const provenance = await attest(packed, ca, tlog);
  const published = await attestPublication(publication, tlog);
  const wheel = "acme_tool-1.2.3-py2.py3-none-any.whl";
  const wheels = statement(wheel, "sha256", "a wheel\n", PUBLICATION);
  const release = statement("dist/tool.tar.gz", "sha256", "an archive\n", PROVENANCE);
  const files = {
    "trusted_root.json": trust(ours),
    "npm.json": {
      attestations: [
        { predicateType: PUBLICATION, bundle: published },
        { predicateType: PROVENANCE, bundle: provenance },
      ],
    },
    "pypi.json": asPypi(await attest(wheels, ca, tlog)),
    "github.json": {
      attestations: [
        { bundle: null, repository_id: 1, bundle_url: "https://storage.example/1" },
        { bundle: await attest(release, ca, tlog), repository_id: 1, bundle_url: "" },
      ],
    },
    "other-authority.json": await attest(packed, others.ca, tlog),
    "other-log.json": await attest(packed, ca, others.tlog),
    "late.json": await attest(packed, ca, lateLog),
  };
  for (const [name, content] of Object.entries(files)) {
    fs.writeFileSync(path.join(__dirname, name), `${JSON.stringify(content, null, 1)}\n`);
  }
}

main();

//! The certificate and the key that the user gives for an address other than loopback.

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;

/// A certificate with its key, read and checked.
#[derive(Debug)]
pub struct TlsServer(Arc<ServerConfig>);

#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("{path}: {message}", path = path.display())]
    File { path: PathBuf, message: String },
    #[error("the certificate and the key cannot be used: {0}")]
    Refused(rustls::Error),
}

impl TlsServer {
    /// Reads PEM files: the certificate with those that lead to its issuer, and its key.
    pub fn read(certificate: &Path, key: &Path) -> Result<TlsServer, TlsError> {
        let of = |path: &Path, message: String| TlsError::File { path: path.to_owned(), message };
        let chain = CertificateDer::pem_file_iter(certificate)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|error| of(certificate, error.to_string()))?;
        if chain.is_empty() {
            return Err(of(certificate, "there is no certificate in it".to_owned()));
        }
        let mode = std::fs::metadata(key).map_or(0, |file| file.permissions().mode());
        if mode & 0o007 != 0 {
            return Err(of(key, "every user can read this key; to fix it: chmod 600".to_owned()));
        }
        let private = PrivateKeyDer::from_pem_file(key).map_err(|e| of(key, e.to_string()))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, private))
            .map_err(TlsError::Refused)?;
        Ok(TlsServer(Arc::new(config)))
    }

    pub(crate) fn acceptor(self) -> TlsAcceptor {
        TlsAcceptor::from(self.0)
    }
}

//! How files are fetched: certificates, proxies, times. The usual variables are read from a list that
//! the caller gives, since a library does not look at its environment.

use super::error::DownloadError;
use rustls::crypto::ring;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, TlsProvider, parse_pem};
use ureq::{Agent, Proxy};

const MOST_REDIRECTS: u32 = 8;

/// Where Linux distributions, the BSDs and macOS have the certificates that they trust.
const CERTIFICATES: &[&str] = &[
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

#[derive(Debug, Clone)]
pub struct HttpSettings {
    /// A file in PEM format instead of the machine's own.
    pub certificates: Option<PathBuf>,
    pub http_proxy: Option<String>,
    pub https_proxy: Option<String>,
    /// Hosts that are reached without a proxy.
    pub no_proxy: Vec<String>,
    pub user_agent: String,
    pub connect_timeout: Duration,
    /// How long the server may be silent.
    pub silence_timeout: Duration,
    pub whole_timeout: Duration,
}

impl Default for HttpSettings {
    fn default() -> HttpSettings {
        HttpSettings {
            certificates: None,
            http_proxy: None,
            https_proxy: None,
            no_proxy: Vec::new(),
            user_agent: concat!("towpath/", env!("CARGO_PKG_VERSION")).to_owned(),
            connect_timeout: Duration::from_secs(20),
            silence_timeout: Duration::from_secs(60),
            whole_timeout: Duration::from_secs(3600),
        }
    }
}

impl HttpSettings {
    /// As curl reads them: `https_proxy`, `http_proxy`, `all_proxy`, `no_proxy`, `SSL_CERT_FILE`.
    pub fn from_variables(variables: &[(OsString, OsString)]) -> HttpSettings {
        let one = |name: &str| {
            let found = variables.iter().find(|(key, value)| key == name && !value.is_empty());
            found.and_then(|(_, value)| value.to_str()).map(str::to_owned)
        };
        let either = |name: &str| one(name).or_else(|| one(&name.to_ascii_uppercase()));
        let hosts = either("no_proxy").unwrap_or_default();
        let hosts = hosts.split([',', ' ']).map(str::trim).filter(|host| !host.is_empty());
        HttpSettings {
            certificates: one("SSL_CERT_FILE").map(PathBuf::from),
            http_proxy: either("http_proxy").or_else(|| either("all_proxy")),
            https_proxy: either("https_proxy").or_else(|| either("all_proxy")),
            no_proxy: hosts.map(str::to_owned).collect(),
            ..HttpSettings::default()
        }
    }

    /// An agent for one URL and what it redirects to.
    pub(super) fn agent(&self, url: &str) -> Result<Agent, DownloadError> {
        let encrypted = url.starts_with("https://");
        let proxy = if encrypted { &self.https_proxy } else { &self.http_proxy };
        let proxy = proxy.as_deref().map(|proxy| self.proxy(proxy)).transpose()?;
        let mut config = Agent::config_builder()
            .https_only(encrypted)
            .max_redirects(MOST_REDIRECTS)
            .max_redirects_will_error(true)
            .proxy(proxy)
            .user_agent(&self.user_agent)
            .timeout_global(Some(self.whole_timeout))
            .timeout_connect(Some(self.connect_timeout))
            .timeout_recv_response(Some(self.silence_timeout))
            .timeout_per_read(Some(self.silence_timeout));
        // What begins without encryption may be redirected to where it is; without certificates only
        // that fails.
        match self.tls() {
            Ok(tls) => config = config.tls_config(tls),
            Err(error) if encrypted => return Err(error),
            Err(_) => {}
        }
        Ok(config.build().new_agent())
    }

    fn proxy(&self, url: &str) -> Result<Proxy, DownloadError> {
        let bad = |_| DownloadError::Proxy(url.to_owned());
        let parsed = Proxy::new(url).map_err(bad)?;
        let mut proxy = Proxy::builder(parsed.protocol()).host(parsed.host()).port(parsed.port());
        if let Some(user) = parsed.username() {
            proxy = proxy.username(user);
        }
        if let Some(password) = parsed.password() {
            proxy = proxy.password(password);
        }
        for host in &self.no_proxy {
            proxy = proxy.no_proxy(host);
            // A name includes the names below it.
            if !host.starts_with(['.', '*']) {
                proxy = proxy.no_proxy(&format!(".{host}"));
            }
        }
        proxy.build().map_err(bad)
    }

    fn tls(&self) -> Result<TlsConfig, DownloadError> {
        let usual = || CERTIFICATES.iter().map(Path::new).find(|path| path.is_file());
        let path = self.certificates.as_deref().or_else(usual);
        let path = path.ok_or_else(|| {
            DownloadError::Certificates(format!("none of {}", CERTIFICATES.join(", ")))
        })?;
        let read = |error| DownloadError::Certificates(format!("`{}`: {error}", path.display()));
        let pem = fs::read(path).map_err(|error| read(error.to_string()))?;
        let certificate = |item| match item {
            Ok(PemItem::Certificate(certificate)) => Some(certificate),
            _ => None,
        };
        let roots: Vec<Certificate<'static>> = parse_pem(&pem).filter_map(certificate).collect();
        if roots.is_empty() {
            return Err(read("it contains no certificate".to_owned()));
        }
        Ok(TlsConfig::builder()
            .provider(TlsProvider::Rustls)
            .root_certs(RootCerts::Specific(Arc::new(roots)))
            .unversioned_rustls_crypto_provider(Arc::new(ring::default_provider()))
            .build())
    }
}

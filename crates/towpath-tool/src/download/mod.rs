//! Files over HTTP: redirects, size, times and the checksum are limited or compared here, so that no
//! source has to. A failed download leaves no file. A URL that begins with `https` never continues
//! without encryption. Nothing is read from the environment: the variables come from the caller.

mod error;

pub use error::DownloadError;
pub(crate) use error::shown;

use crate::file_hash::hexadecimal;
use rustls::crypto::ring;
use sha2::{Digest as _, Sha256};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, TlsProvider, parse_pem};
use ureq::{Agent, Body, Proxy};

type Result<T, E = DownloadError> = std::result::Result<T, E>;

const MOST_REDIRECTS: u32 = 8;
const CONNECT_TIME: Duration = Duration::from_secs(20);
const LONGEST_TIME: Duration = Duration::from_secs(60 * 60);
/// The bytes in a second that an answer must have on average.
const LOWEST_RATE: u64 = 16 << 10;

/// Where Linux distributions, the BSDs and macOS have the certificates that they trust.
const CERTIFICATES: &[&str] = &[
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// What a download must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expected<'e> {
    /// Without one, whatever arrives is accepted.
    pub sha256: Option<&'e str>,
    pub most_bytes: u64,
}

#[derive(Debug, Clone)]
pub struct HttpClient {
    /// A file in PEM format instead of the machine's own.
    pub certificates: Option<PathBuf>,
    pub http_proxy: Option<String>,
    pub https_proxy: Option<String>,
    /// Hosts that are reached without a proxy.
    pub no_proxy: Vec<String>,
    /// How long a server may be silent, and how long it may send less than the lowest rate.
    pub patience: Duration,
}

impl Default for HttpClient {
    fn default() -> HttpClient {
        HttpClient::from_variables(&[])
    }
}

impl HttpClient {
    /// As curl reads them: `https_proxy`, `http_proxy`, `all_proxy`, `no_proxy`, `SSL_CERT_FILE`.
    pub fn from_variables(variables: &[(OsString, OsString)]) -> HttpClient {
        let one = |name: &str| {
            let found = variables.iter().find(|(key, value)| key == name && !value.is_empty());
            found.and_then(|(_, value)| value.to_str()).map(str::to_owned)
        };
        let either = |name: &str| one(name).or_else(|| one(&name.to_ascii_uppercase()));
        let hosts = either("no_proxy").unwrap_or_default();
        let hosts = hosts.split([',', ' ']).filter(|host| !host.is_empty());
        HttpClient {
            certificates: one("SSL_CERT_FILE").map(PathBuf::from),
            http_proxy: either("http_proxy").or_else(|| either("all_proxy")),
            https_proxy: either("https_proxy").or_else(|| either("all_proxy")),
            no_proxy: hosts.map(str::to_owned).collect(),
            patience: Duration::from_secs(60),
        }
    }

    /// Writes what a URL serves to a new file, and returns its SHA-256 in hexadecimal digits. `amount` is
    /// called with the bytes so far and, if the server gives it, their total.
    pub fn download(
        &self,
        url: &str,
        destination: &Path,
        expected: Expected<'_>,
        amount: &mut dyn FnMut(u64, Option<u64>),
    ) -> Result<String> {
        let body = self.get(url, &[])?;
        let mut file = File::create_new(destination).map_err(DownloadError::io(destination))?;
        let mut hasher = Sha256::new();
        let written = self.read(url, body, expected.most_bytes, |bytes, done, total| {
            hasher.update(bytes);
            amount(done, total);
            file.write_all(bytes).map_err(DownloadError::io(destination))
        });
        let found = hexadecimal(&hasher.finalize());
        let checked = written.and_then(|()| match expected.sha256 {
            Some(sha256) if sha256 != found => {
                let (url, expected) = (shown(url), sha256.to_owned());
                Err(DownloadError::Checksum { url, expected, found })
            }
            _ => Ok(found),
        });
        if checked.is_err() {
            let _ = fs::remove_file(destination);
        }
        checked
    }

    /// A short text, such as JSON; none if there is nothing at this URL.
    pub fn text(
        &self,
        url: &str,
        headers: &[(&str, &str)],
        most_bytes: u64,
    ) -> Result<Option<String>> {
        let body = match self.get(url, headers) {
            Err(DownloadError::Status { code: 404 | 410, .. }) => return Ok(None),
            other => other?,
        };
        let mut text = Vec::new();
        self.read(url, body, most_bytes, |bytes, _, _| {
            text.extend_from_slice(bytes);
            Ok(())
        })?;
        Ok(Some(String::from_utf8_lossy(&text).into_owned()))
    }

    /// Sends a JSON text; what is answered does not matter.
    pub fn post(&self, url: &str, json: &str) -> Result<()> {
        let request = self.agent(url)?.post(url).header("content-type", "application/json");
        request.send(json).map(|_| ()).map_err(|error| DownloadError::http(url, error))
    }

    fn get(&self, url: &str, headers: &[(&str, &str)]) -> Result<Body> {
        let request = self.agent(url)?.get(url);
        let request = headers.iter().fold(request, |r, (name, value)| r.header(*name, *value));
        let response = request.call().map_err(|error| DownloadError::http(url, error))?;
        Ok(response.into_body())
    }

    /// Reads an answer to its end. `take` gets what arrives, the bytes so far and their total.
    fn read<F>(&self, url: &str, body: Body, most_bytes: u64, mut take: F) -> Result<()>
    where
        F: FnMut(&[u8], u64, Option<u64>) -> Result<()>,
    {
        let too_large = || DownloadError::TooLarge { url: shown(url), limit: most_bytes };
        let total = body.content_length();
        if total.is_some_and(|total| total > most_bytes) {
            return Err(too_large());
        }
        let (began, mut reader) = (Instant::now(), body.into_reader());
        let (mut done, mut buffer) = (0_u64, vec![0; 1 << 16]);
        loop {
            let read = match reader.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(DownloadError::http(url, error.into())),
            };
            done = done.saturating_add(u64::try_from(read).unwrap_or(u64::MAX));
            if done > most_bytes {
                return Err(too_large());
            }
            if began.elapsed() > self.patience + Duration::from_secs(done / LOWEST_RATE) {
                return Err(DownloadError::TimedOut { url: shown(url) });
            }
            take(&buffer[..read], done, total)?;
        }
    }

    /// An agent for one URL and what it redirects to.
    fn agent(&self, url: &str) -> Result<Agent> {
        let encrypted = url.starts_with("https://");
        let proxy = if encrypted { &self.https_proxy } else { &self.http_proxy };
        let proxy = proxy.as_deref().map(|proxy| self.proxy(proxy)).transpose();
        let mut config = Agent::config_builder()
            .https_only(encrypted)
            .max_redirects(MOST_REDIRECTS)
            .max_redirects_will_error(true)
            .proxy(proxy?)
            .user_agent(concat!("towpath/", env!("CARGO_PKG_VERSION")))
            .timeout_global(Some(LONGEST_TIME))
            .timeout_connect(Some(CONNECT_TIME))
            .timeout_recv_response(Some(self.patience))
            .timeout_per_read(Some(self.patience));
        // What begins without encryption may be redirected to where it is; without certificates only
        // that fails.
        match self.tls() {
            Ok(tls) => config = config.tls_config(tls),
            Err(error) if encrypted => return Err(error),
            Err(_) => {}
        }
        Ok(config.build().new_agent())
    }

    fn proxy(&self, url: &str) -> Result<Proxy> {
        let bad = |_| DownloadError::Proxy(shown(url));
        let parsed = Proxy::new(url).map_err(bad)?;
        let mut proxy = Proxy::builder(parsed.protocol()).host(parsed.host()).port(parsed.port());
        if let Some(user) = parsed.username() {
            proxy = proxy.username(user).password(parsed.password().unwrap_or_default());
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

    fn tls(&self) -> Result<TlsConfig> {
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

//! Why a file did not arrive, in terms of what a user can do about it.

use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

#[derive(Debug, Error)]
pub enum DownloadError {
    #[error("`{0}` is not a URL that can be fetched")]
    Url(String),
    #[error("`{url}`: the server answered {code}")]
    Status { url: String, code: u16 },
    #[error("`{url}`: too many redirects")]
    Redirects { url: String },
    #[error("`{url}` redirects to a URL without encryption")]
    Unencrypted { url: String },
    #[error("`{url}`: the connection ended before the file did")]
    Truncated { url: String },
    #[error("`{url}`: the server did not answer in time")]
    TimedOut { url: String },
    #[error("`{url}`: {reason}")]
    Unreachable { url: String, reason: String },
    #[error("`{url}` is larger than {limit} bytes")]
    TooLarge { url: String, limit: u64 },
    #[error("`{url}` has the SHA-256 {found}, expected {expected}")]
    Checksum { url: String, expected: String, found: String },
    #[error("no certificates: {0}")]
    Certificates(String),
    #[error("`{0}` is not a proxy")]
    Proxy(String),
    #[error("`{}`: {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
}

impl DownloadError {
    pub(super) fn io(path: &Path) -> impl FnOnce(io::Error) -> DownloadError {
        let path = path.to_owned();
        move |error| DownloadError::Io { path, error }
    }

    pub(super) fn http(url: &str, error: ureq::Error) -> DownloadError {
        let url = shown(url);
        match error {
            ureq::Error::StatusCode(code) => DownloadError::Status { url, code },
            ureq::Error::BadUri(_) | ureq::Error::Http(_) => DownloadError::Url(url),
            ureq::Error::TooManyRedirects => DownloadError::Redirects { url },
            ureq::Error::RequireHttpsOnly(_) => DownloadError::Unencrypted { url },
            ureq::Error::Timeout(_) => DownloadError::TimedOut { url },
            ureq::Error::Io(error) => io_error(url, error),
            other => DownloadError::Unreachable { url, reason: other.to_string() },
        }
    }
}

/// An address without what may be secret in it: a user with a password, and what follows a question mark.
pub(crate) fn shown(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let rest = rest.split(['?', '#']).next().unwrap_or(rest);
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

/// While a body is read, errors of the library arrive inside of those of the system.
fn io_error(url: String, error: io::Error) -> DownloadError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof
        | io::ErrorKind::ConnectionReset
        | io::ErrorKind::ConnectionAborted
        | io::ErrorKind::BrokenPipe => return DownloadError::Truncated { url },
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => {
            return DownloadError::TimedOut { url };
        }
        _ => {}
    }
    match error.downcast::<ureq::Error>() {
        Ok(inner) => DownloadError::http(&url, inner),
        Err(error) => DownloadError::Unreachable { url, reason: error.to_string() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_secret_of_an_address_is_shown() {
        assert_eq!(shown("https://me:pw@host:1/a/b?token=x#y"), "https://host:1/a/b");
        assert_eq!(shown("http://host"), "http://host");
    }
}

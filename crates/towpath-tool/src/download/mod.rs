//! Files over HTTP: redirects, size, times and the checksum are limited or compared here, so that no
//! source has to. A failed download leaves no file. A URL that begins with `https` never continues
//! without encryption. Nothing is read from the environment; [`HttpSettings`] has what counts.

mod error;
mod http_settings;

pub use error::DownloadError;
use error::shown;
pub use http_settings::HttpSettings;

use crate::file_hash::hexadecimal;
use sha2::{Digest as _, Sha256};
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use ureq::{Agent, Body};

/// What arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Download {
    pub bytes: u64,
    /// 64 hexadecimal digits.
    pub sha256: String,
}

/// What a download must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expected<'e> {
    /// Without one, whatever arrives is accepted.
    pub sha256: Option<&'e str>,
    pub most_bytes: u64,
}

#[derive(Debug, Clone, Default)]
pub struct HttpClient {
    settings: HttpSettings,
}

impl HttpClient {
    pub fn new(settings: HttpSettings) -> HttpClient {
        HttpClient { settings }
    }

    /// Writes what a URL serves to a new file. `amount` is called with the bytes so far and, if the
    /// server gives it, their total.
    pub fn download(
        &self,
        url: &str,
        destination: &Path,
        expected: Expected<'_>,
        amount: &mut dyn FnMut(u64, Option<u64>),
    ) -> Result<Download, DownloadError> {
        let body = self.get(url, &[])?;
        let file = File::create_new(destination);
        let mut file = file.map_err(|error| DownloadError::io(destination, error))?;
        let written = copy(url, body, expected.most_bytes, amount, &mut |bytes| {
            file.write_all(bytes).map_err(|error| DownloadError::io(destination, error))
        });
        let checked = written.and_then(|download| match expected.sha256 {
            Some(sha256) if sha256 != download.sha256 => Err(DownloadError::Checksum {
                url: shown(url),
                expected: sha256.to_owned(),
                found: download.sha256,
            }),
            _ => Ok(download),
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
    ) -> Result<Option<String>, DownloadError> {
        let body = match self.get(url, headers) {
            Err(DownloadError::Status { code: 404 | 410, .. }) => return Ok(None),
            other => other?,
        };
        let mut text = Vec::new();
        copy(url, body, most_bytes, &mut |_, _| {}, &mut |bytes| {
            text.extend_from_slice(bytes);
            Ok(())
        })?;
        Ok(Some(String::from_utf8_lossy(&text).into_owned()))
    }

    /// Sends a JSON text; what is answered does not matter.
    pub fn post(&self, url: &str, json: &str) -> Result<(), DownloadError> {
        let agent: Agent = self.settings.agent(url)?;
        let request = agent.post(url).header("content-type", "application/json");
        request.send(json).map_err(|error| DownloadError::http(url, error))?;
        Ok(())
    }

    fn get(&self, url: &str, headers: &[(&str, &str)]) -> Result<Body, DownloadError> {
        let agent: Agent = self.settings.agent(url)?;
        let request =
            headers.iter().fold(agent.get(url), |r, (name, value)| r.header(*name, *value));
        let response = request.call();
        Ok(response.map_err(|error| DownloadError::http(url, error))?.into_body())
    }
}

fn copy(
    url: &str,
    body: Body,
    most_bytes: u64,
    amount: &mut dyn FnMut(u64, Option<u64>),
    write: &mut dyn FnMut(&[u8]) -> Result<(), DownloadError>,
) -> Result<Download, DownloadError> {
    let too_large = || DownloadError::TooLarge { url: shown(url), limit: most_bytes };
    let total = body.content_length();
    if total.is_some_and(|total| total > most_bytes) {
        return Err(too_large());
    }
    let mut reader = body.into_reader();
    let (mut hasher, mut bytes) = (Sha256::new(), 0_u64);
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = match reader.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(DownloadError::http(url, error.into())),
        };
        bytes = bytes.saturating_add(u64::try_from(read).unwrap_or(u64::MAX));
        if bytes > most_bytes {
            return Err(too_large());
        }
        hasher.update(&buffer[..read]);
        write(&buffer[..read])?;
        amount(bytes, total);
    }
    Ok(Download { bytes, sha256: hexadecimal(&hasher.finalize()) })
}

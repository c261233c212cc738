//! The address of a server.

use std::{
    fmt,
    io::{self, Read, Write},
    net::{TcpStream, ToSocketAddrs},
    path::PathBuf,
    str::FromStr,
    time::Duration,
};

#[cfg(unix)]
use std::os::unix::net::UnixStream;

#[cfg(feature = "nats")]
use super::nats::EventStream;

/// The address of a server: `127.0.0.1:7107`, or `unix:/run/portent.sock`; with the feature `nats` also that of a stream of NATS
/// JetStream, `nats://127.0.0.1:4222/portent`.
///
/// ```
/// use portent_sidecar::Address;
///
/// let address: Address = "unix:/run/portent.sock".parse()?;
/// assert_eq!(address.to_string(), "unix:/run/portent.sock");
/// assert!("7107".parse::<Address>().is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A socket in the file system.
    Unix(PathBuf),
    /// A host and a port.
    Tcp(String),
    /// A stream that keeps events until a server takes them.
    #[cfg(feature = "nats")]
    Nats(EventStream),
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Address, String> {
        if let Some(path) = text.strip_prefix("unix:") {
            if path.is_empty() {
                return Err("expected a path after `unix:`".to_owned());
            }
            return Ok(Address::Unix(path.into()));
        }
        if text.starts_with("nats://") || text.starts_with("tls://") {
            #[cfg(feature = "nats")]
            return text.parse().map(Address::Nats);
            #[cfg(not(feature = "nats"))]
            return Err(format!(
                "`{text}` is a stream of NATS, and this program was built without the feature `nats`"
            ));
        }
        match text.rsplit_once(':') {
            Some((host, port)) if !host.is_empty() && port.parse::<u16>().is_ok() => {
                Ok(Address::Tcp(text.to_owned()))
            }
            _ => Err(format!(
                "expected HOST:PORT or unix:PATH, as in 127.0.0.1:7107, not `{text}`"
            )),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Unix(path) => write!(f, "unix:{}", path.display()),
            Address::Tcp(address) => f.write_str(address),
            #[cfg(feature = "nats")]
            Address::Nats(stream) => write!(f, "{stream}"),
        }
    }
}

/// A connection, whatever it goes through.
pub(super) trait Connection: Read + Write + Send {}

impl<T: Read + Write + Send> Connection for T {}

impl Address {
    /// Connects; neither reading nor writing then takes longer than this.
    pub(super) fn connect(&self, patience: Duration) -> io::Result<Box<dyn Connection>> {
        match self {
            Address::Tcp(address) => {
                let mut last = None;
                for address in address.to_socket_addrs()? {
                    match TcpStream::connect_timeout(&address, patience) {
                        Ok(stream) => {
                            stream.set_nodelay(true)?;
                            stream.set_read_timeout(Some(patience))?;
                            stream.set_write_timeout(Some(patience))?;
                            return Ok(Box::new(stream));
                        }
                        Err(error) => last = Some(error),
                    }
                }
                Err(last.unwrap_or_else(|| io::Error::other("the host has no address")))
            }
            #[cfg(unix)]
            Address::Unix(path) => {
                let stream = UnixStream::connect(path)?;
                stream.set_read_timeout(Some(patience))?;
                stream.set_write_timeout(Some(patience))?;
                Ok(Box::new(stream))
            }
            #[cfg(not(unix))]
            Address::Unix(_) => Err(io::ErrorKind::Unsupported.into()),
            #[cfg(feature = "nats")]
            Address::Nats(_) => Err(io::Error::other("a stream of NATS is no socket")),
        }
    }
}

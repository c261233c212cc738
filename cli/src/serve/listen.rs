//! Sockets, and how many may come in.

use std::{
    fs,
    io::{self, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

#[cfg(unix)]
use std::os::unix::{
    fs::{FileTypeExt, PermissionsExt},
    net::{UnixListener, UnixStream},
};

use portent_sidecar::Address;

use super::Common;
use crate::failure::Failure;

/// How often it is looked whether somebody came, and whether all is over.
const LOOK: Duration = Duration::from_millis(10);
/// How long a call of the system may take before it is looked whether all is over.
pub(super) const PATIENCE: Duration = Duration::from_millis(200);

/// A connection, whatever it goes through.
pub(super) trait Connection: Read + Write + Send {}

impl<T: Read + Write + Send> Connection for T {}

/// A place where others come in.
pub(super) enum Listener {
    Tcp(TcpListener),
    #[cfg(unix)]
    Unix(UnixListener, std::path::PathBuf),
}

impl Listener {
    pub(super) fn bind(address: &Address) -> Result<Listener, Failure> {
        let bound = match address {
            Address::Tcp(text) => TcpListener::bind(text).map(Listener::Tcp),
            #[cfg(unix)]
            Address::Unix(path) => bind_unix(path),
            #[cfg(not(unix))]
            Address::Unix(_) => Err(io::ErrorKind::Unsupported.into()),
        };
        let listener = bound.and_then(|listener| {
            match &listener {
                Listener::Tcp(socket) => socket.set_nonblocking(true)?,
                #[cfg(unix)]
                Listener::Unix(socket, _) => socket.set_nonblocking(true)?,
            }
            Ok(listener)
        });
        listener.map_err(|error| {
            let advice = match error.kind() {
                io::ErrorKind::AddrInUse => {
                    "; another server is there: end it, or give another address"
                }
                _ => "",
            };
            Failure::Usage(format!("cannot listen on {address}: {error}{advice}"))
        })
    }

    /// How to reach it.
    pub(super) fn shown(&self, is_page: bool) -> String {
        match self {
            Listener::Tcp(socket) => {
                let address = socket.local_addr().map(|address| address.to_string());
                let address = address.unwrap_or_default();
                if is_page {
                    format!("http://{address}/")
                } else {
                    address
                }
            }
            #[cfg(unix)]
            Listener::Unix(_, path) => format!("unix:{}", path.display()),
        }
    }

    /// Whether only this machine can reach it.
    pub(super) fn is_local(&self) -> bool {
        match self {
            Listener::Tcp(socket) => socket
                .local_addr()
                .is_ok_and(|address| address.ip().is_loopback()),
            #[cfg(unix)]
            Listener::Unix(..) => true,
        }
    }

    fn next(&self) -> io::Result<Box<dyn Connection>> {
        match self {
            Listener::Tcp(socket) => {
                let stream: TcpStream = socket.accept()?.0;
                stream.set_nonblocking(false)?;
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(PATIENCE))?;
                stream.set_write_timeout(Some(PATIENCE))?;
                Ok(Box::new(stream))
            }
            #[cfg(unix)]
            Listener::Unix(socket, _) => {
                let stream: UnixStream = socket.accept()?.0;
                stream.set_nonblocking(false)?;
                stream.set_read_timeout(Some(PATIENCE))?;
                stream.set_write_timeout(Some(PATIENCE))?;
                Ok(Box::new(stream))
            }
        }
    }

    /// Gives everybody who comes a thread, until all is over; no more than `most` at once.
    pub(super) fn accept(
        &self,
        common: &Arc<Common>,
        most: usize,
        serve: impl Fn(Box<dyn Connection>, &Common) + Clone + Send + 'static,
        turn_away: impl Fn(Box<dyn Connection>, &Common),
    ) {
        let inside = Arc::new(AtomicUsize::new(0));
        while !common.is_over.load(Relaxed) {
            let Ok(connection) = self.next() else {
                // Nobody came, or too many files are open: both will change.
                thread::sleep(LOOK);
                continue;
            };
            if inside.load(Relaxed) >= most {
                turn_away(connection, common);
                continue;
            }
            inside.fetch_add(1, Relaxed);
            let (common, serve, left) = (Arc::clone(common), serve.clone(), Arc::clone(&inside));
            let thread = thread::Builder::new().stack_size(256 * 1024);
            let begun = thread.spawn(move || {
                serve(connection, &common);
                left.fetch_sub(1, Relaxed);
            });
            if begun.is_err() {
                inside.fetch_sub(1, Relaxed);
            }
        }
        // They see that all is over, and take what is still there.
        while inside.load(Relaxed) > 0 {
            thread::sleep(LOOK);
        }
    }
}

#[cfg(unix)]
fn bind_unix(path: &std::path::Path) -> io::Result<Listener> {
    if let Ok(there) = fs::symlink_metadata(path) {
        if !there.file_type().is_socket() {
            let problem = "there is a file of that name, which is not a socket; give another name";
            return Err(io::Error::other(problem));
        }
        if UnixStream::connect(path).is_ok() {
            return Err(io::ErrorKind::AddrInUse.into());
        }
        // Left by a server that was killed.
        fs::remove_file(path)?;
    }
    let socket = UnixListener::bind(path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    Ok(Listener::Unix(socket, path.to_owned()))
}

#[cfg(unix)]
impl Drop for Listener {
    fn drop(&mut self) {
        if let Listener::Unix(_, path) = self {
            let _ = fs::remove_file(path);
        }
    }
}

//! Sockets, and the limit on connections.

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

/// How often to check for new connections and for shutdown.
const LOOK: Duration = Duration::from_millis(10);
/// How long a system call may block before shutdown is checked.
pub(super) const PATIENCE: Duration = Duration::from_millis(200);

/// A connection of any kind.
pub(super) trait Connection: Read + Write + Send {}

impl<T: Read + Write + Send> Connection for T {}

/// A socket that accepts connections.
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
            #[cfg(feature = "nats")]
            Address::Nats(_) => Err(io::Error::other("it is a stream of NATS, and no socket")),
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

    /// The address to connect to.
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

    /// Whether only this machine can connect to it.
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

    /// Gives every connection a thread, as long as there is room, until shutdown.
    pub(super) fn accept(
        &self,
        common: &Arc<Common>,
        room: &Arc<Room>,
        serve: impl Fn(Box<dyn Connection>, &Common) + Clone + Send + 'static,
        turn_away: impl Fn(Box<dyn Connection>, &Common),
    ) {
        while !common.is_over.load(Relaxed) {
            let Ok(connection) = self.next() else {
                // There is no connection, or too many files are open: both are temporary.
                thread::sleep(LOOK);
                continue;
            };
            let Some(place) = Room::enter(room) else {
                turn_away(connection, common);
                continue;
            };
            let (common, serve) = (Arc::clone(common), serve.clone());
            let thread = thread::Builder::new().stack_size(256 * 1024);
            // If no thread can be started, the connection is closed and its place freed.
            let _ = thread.spawn(move || {
                serve(connection, &common);
                drop(place);
            });
        }
        // The threads notice the shutdown, and take what has already arrived.
        while !room.is_empty() {
            thread::sleep(LOOK);
        }
    }
}

/// A limit on simultaneous connections, shared by several listeners.
pub(super) struct Room {
    most: usize,
    inside: AtomicUsize,
}

/// The place of one connection.
struct Place(Arc<Room>);

impl Room {
    pub(super) fn new(most: usize) -> Arc<Room> {
        let inside = AtomicUsize::new(0);
        Arc::new(Room { most, inside })
    }

    fn enter(room: &Arc<Room>) -> Option<Place> {
        let more = |inside| (inside < room.most).then_some(inside + 1);
        let entered = room.inside.fetch_update(Relaxed, Relaxed, more);
        entered.ok().map(|_| Place(Arc::clone(room)))
    }

    fn is_empty(&self) -> bool {
        self.inside.load(Relaxed) == 0
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.inside.fetch_sub(1, Relaxed);
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

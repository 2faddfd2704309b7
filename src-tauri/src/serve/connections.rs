//! Accepts, limits and closes connections. Owns no route.
//!
//! Every user of this machine can open a connection; it is therefore untrusted (a "stranger") until
//! a request over it was admitted. Strangers have a separate limit: the oldest is closed when
//! another one arrives, and each has little time to send an admissible request. Connections are
//! thus always accepted, and legitimate clients get through. If requests of all clients are
//! admitted, idle connections are closed in favor of new ones.
use super::socket::ClientSocket;
use axum::{
    Extension, Router,
    http::{HeaderValue, header},
    response::Response,
};
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
    service::TowerToHyperService,
};
use std::{
    collections::VecDeque,
    future::Future,
    io,
    net::{Ipv4Addr, SocketAddr},
    pin::pin,
    sync::{
        Arc, Mutex, PoisonError, Weak,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::{
    net::{TcpListener, TcpSocket},
    sync::Notify,
    task::{AbortHandle, JoinSet},
    time::Instant,
};

/// Timeout for the head of a request, which keeps silent clients from holding connections.
const SLOWEST_HEAD: Duration = Duration::from_secs(10);
/// Time limit for a connection without an admitted request.
const PATIENCE_WITH_STRANGERS: Duration = Duration::from_secs(2);
/// Minimum lifetime of a connection, so that a request that has just arrived can be read before the
/// connection is closed.
const SHORTEST_STAY: Duration = Duration::from_millis(100);
/// Number of connections that the system keeps until they are accepted; it may keep fewer. While
/// there are more, a client is ignored and tries again only after a second.
const BACKLOG: u32 = 4096;
/// Delay after a connection could not be accepted.
const AFTER_FAILURE: Duration = Duration::from_millis(20);

/// Limits for the number of connections.
#[derive(Debug, Clone, Copy)]
pub(super) struct ConnectionLimits {
    /// Maximum number of connections without an admitted request. When another arrives, the oldest
    /// is closed.
    pub(super) strangers: usize,
    /// Maximum number of connections with an admitted request. No more are accepted until one ends.
    pub(super) admitted: usize,
    /// True if the longest idle admitted connection is closed when the limit is reached and another
    /// arrives. Without authentication, a client could otherwise lock out others by keeping
    /// connections open.
    pub(super) idle_gives_way: bool,
}

/// Maximum number of bytes of a request head, and of a buffered body that is not yet read.
const LARGEST_BUFFER: usize = 64 << 10;

/// The connection of a request.
#[derive(Clone)]
pub(super) struct Connection(Arc<State>);

struct State {
    peer: SocketAddr,
    admitted: AtomicBool,
    count: Arc<AtomicUsize>,
    changed: Arc<Notify>,
    /// Start of the idle time; `None` while a request is being answered.
    idle: Mutex<Option<Instant>>,
}

/// Guard that marks a connection as busy until it is dropped.
pub(super) struct AtWork(Connection);

impl Drop for AtWork {
    fn drop(&mut self) {
        self.0.set_idle(Some(Instant::now()));
        // This connection may now be closed for another.
        self.0.0.changed.notify_one();
    }
}

impl Connection {
    /// Marks the connection as busy, which keeps it from being closed for others.
    pub(super) fn work(&self) -> AtWork {
        self.set_idle(None);
        AtWork(self.clone())
    }

    fn set_idle(&self, since: Option<Instant>) {
        *self.0.idle.lock().unwrap_or_else(PoisonError::into_inner) = since;
    }

    fn idle_since(&self) -> Option<Instant> {
        *self.0.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Address of the client.
    pub(super) fn peer(&self) -> SocketAddr {
        self.0.peer
    }

    /// Marks the connection as admitted: from now on it is not closed for other strangers.
    pub(super) fn admit(&self) {
        if !self.0.admitted.swap(true, Ordering::AcqRel) {
            self.0.count.fetch_add(1, Ordering::AcqRel);
            self.0.changed.notify_one();
        }
    }

    pub(super) fn is_admitted(&self) -> bool {
        self.0.admitted.load(Ordering::Acquire)
    }
}

impl Drop for State {
    fn drop(&mut self) {
        if *self.admitted.get_mut() {
            self.count.fetch_sub(1, Ordering::AcqRel);
            self.changed.notify_one();
        }
    }
}

/// Makes the response to a refused request the last of its connection.
pub(super) fn close_after(mut reply: Response) -> Response {
    reply.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    reply
}

/// Minimum time between two looks at all strangers. A flood of them is accepted at the rate at
/// which they are looked at, and the owner's connection waits behind them.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// Connections that had no admitted request when last checked, oldest first. Holds only weak
/// references.
#[derive(Default)]
struct Strangers {
    all: VecDeque<(Weak<State>, AbortHandle, Instant)>,
    /// Time of the last look at all of them.
    looked: Option<Instant>,
}

/// Returns true for a connection that is open and was not admitted.
fn is_stranger(state: &Weak<State>) -> bool {
    state.upgrade().is_some_and(|state| !Connection(state).is_admitted())
}

impl Strangers {
    /// Adds a connection, and closes the oldest until at most `most` are left.
    fn take(&mut self, connection: &Connection, task: AbortHandle, most: usize) {
        self.all.push_back((Arc::downgrade(&connection.0), task, Instant::now()));
        if self.all.len() > most {
            self.shrink_to(most);
        }
    }

    /// Closes the older half.
    fn halve(&mut self) {
        self.shrink_to(self.all.len() / 2);
    }

    fn shrink_to(&mut self, most: usize) {
        self.forget_others();
        let surplus = self.all.len().saturating_sub(most);
        // One behind the oldest may have been admitted since the last look.
        let closed = self.all.drain(..surplus).filter(|(state, ..)| is_stranger(state));
        closed.for_each(|(_, task, _)| task.abort());
    }

    /// Removes connections that have ended or have been admitted: the oldest at once, and those
    /// behind a stranger at the next look at all.
    fn forget_others(&mut self) {
        while self.all.front().is_some_and(|(state, ..)| !is_stranger(state)) {
            self.all.pop_front();
        }
        let now = Instant::now();
        if self.looked.is_none_or(|looked| now >= looked + BETWEEN_LOOKS) {
            self.looked = Some(now);
            self.all.retain(|(state, ..)| is_stranger(state));
        }
    }

    /// Returns the time at which the next connection may be accepted, if that is later than now:
    /// the oldest would be closed for it, but has not reached its minimum lifetime.
    fn full_until(&mut self, most: usize) -> Option<Instant> {
        if self.all.len() < most {
            return None;
        }
        self.forget_others();
        let oldest = self.all.front().filter(|_| self.all.len() >= most)?;
        Some(oldest.2 + SHORTEST_STAY).filter(|until| *until > Instant::now())
    }
}

/// Connections that may be closed for others. Holds only weak references.
#[derive(Default)]
struct Evictable(Vec<(Weak<State>, AbortHandle)>);

impl Evictable {
    fn take(&mut self, connection: &Connection, task: AbortHandle) {
        self.0.retain(|(_, task)| !task.is_finished());
        self.0.push((Arc::downgrade(&connection.0), task));
    }

    /// Returns the admitted connection that has been idle for longest.
    fn idlest(&self) -> Option<&AbortHandle> {
        let there = self.0.iter().filter(|(_, task)| !task.is_finished());
        let known = there.filter_map(|(state, task)| Some((Connection(state.upgrade()?), task)));
        let idle = known.filter(|(connection, _)| connection.is_admitted());
        let idle = idle.filter_map(|(connection, task)| Some((connection.idle_since()?, task)));
        idle.min_by_key(|(since, _)| *since).map(|(_, task)| task)
    }
}

/// Listens on a port of 127.0.0.1, or on a free one for 0. Fails if the port is in use.
pub(super) fn listen(port: u16) -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    // The port can be used again right after a server on it ended.
    socket.set_reuseaddr(true)?;
    socket.bind((Ipv4Addr::LOCALHOST, port).into())?;
    socket.listen(BACKLOG)
}

/// Serves connections until `end`; requests in progress may then continue until `hurry`.
pub(super) async fn answer(
    listener: TcpListener,
    rooms: &Router,
    shares: ConnectionLimits,
    end: impl Future<Output = ()> + Send + 'static,
    hurry: impl Future<Output = ()>,
) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(SLOWEST_HEAD).max_buf_size(LARGEST_BUFFER);
    let (graceful, mut connections) = (GracefulShutdown::new(), JoinSet::new());
    let (count, changed) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
    let (mut strangers, mut guests) = (Strangers::default(), Evictable::default());
    let mut end = pin!(end);
    loop {
        let full_until = strangers.full_until(shares.strangers);
        let is_full = || count.load(Ordering::Acquire) >= shares.admitted;
        let has_room = (!is_full() || shares.idle_gives_way && guests.idlest().is_some())
            && full_until.is_none();
        tokio::select! {
            () = &mut end => break,
            () = changed.notified() => {}
            Some(_) = connections.join_next() => {}
            () = tokio::time::sleep_until(full_until.unwrap_or_else(Instant::now)), if full_until.is_some() => {}
            accepted = listener.accept(), if has_room => match accepted {
                Ok((stream, peer)) => {
                    // The last one may have been admitted while this one was waited for.
                    if let Some(idlest) = guests.idlest().filter(|_| is_full()) {
                        idlest.abort();
                    }
                    // Small responses are sent at once.
                    let _ = stream.set_nodelay(true);
                    let (count, changed) = (Arc::clone(&count), Arc::clone(&changed));
                    let idle = Mutex::new(Some(Instant::now()));
                    let state = State { peer, admitted: AtomicBool::new(false), count, changed, idle };
                    let known = Connection(Arc::new(state));
                    let line = ClientSocket::new(stream, known.clone());
                    let service = TowerToHyperService::new(rooms.clone().layer(Extension(known.clone())));
                    let answering = graceful.watch(http.serve_connection(TokioIo::new(line), service));
                    let task = connections.spawn(patiently(answering, known.clone()));
                    if shares.idle_gives_way {
                        guests.take(&known, task.clone());
                    }
                    strangers.take(&known, task, shares.strangers);
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be taken");
                    // File descriptors may have run out, and strangers use some.
                    strangers.halve();
                    tokio::time::sleep(AFTER_FAILURE).await;
                }
            },
        }
    }
    drop(listener);
    tokio::select! {
        () = graceful.shutdown() => {}
        () = hurry => {}
    }
}

/// Serves a connection. Closes it after a short time if no request was admitted.
async fn patiently(answering: impl Future, connection: Connection) {
    let mut answering = pin!(answering);
    tokio::select! {
        _ = &mut answering => return,
        () = tokio::time::sleep(PATIENCE_WITH_STRANGERS) => {}
    }
    if connection.is_admitted() {
        answering.await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::routing::get;
    use std::{
        io::{Read as _, Write as _},
        net::TcpStream,
    };

    const ASK: &[u8] = b"GET / HTTP/1.1\r\nHost: here\r\n\r\n";

    fn ask(stream: &mut TcpStream) -> std::io::Result<()> {
        stream.set_read_timeout(Some(Duration::from_secs(30)))?;
        stream.write_all(ASK)?;
        let mut reply = Vec::new();
        while !reply.ends_with(b"fine") {
            let mut piece = [0; 512];
            match stream.read(&mut piece)? {
                0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
                read => reply.extend_from_slice(&piece[..read]),
            }
        }
        Ok(())
    }

    #[test]
    fn the_system_keeps_many_connections_until_they_are_accepted() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let listener = runtime.block_on(async { listen(0) }).unwrap();
        let address = listener.local_addr().unwrap();
        let most = std::fs::read_to_string("/proc/sys/net/core/somaxconn").unwrap();
        let most = most.trim().parse::<usize>().unwrap().min(1000);
        // Nobody accepts them, so one that is ignored never succeeds.
        let connect = |_| TcpStream::connect_timeout(&address, Duration::from_secs(30)).unwrap();
        let kept: Vec<TcpStream> = (0..most).map(connect).collect();
        assert_eq!(kept.len(), most);
    }

    #[test]
    fn a_full_open_server_closes_the_longest_idle_connection() {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let listener = runtime.block_on(async { listen(0) }).unwrap();
        let address = listener.local_addr().unwrap();
        let rooms = Router::new().route(
            "/",
            get(|Extension(connection): Extension<Connection>| async move {
                connection.admit();
                let _at_work = connection.work();
                "fine"
            }),
        );
        let shares = ConnectionLimits { strangers: 8, admitted: 4, idle_gives_way: true };
        let served = runtime.spawn(async move {
            answer(listener, &rooms, shares, std::future::pending(), std::future::pending()).await;
        });
        let mut kept: Vec<TcpStream> = (0..4)
            .map(|_| {
                let mut stream = TcpStream::connect(address).unwrap();
                ask(&mut stream).unwrap();
                stream
            })
            .collect();
        // The first connection was used again; the second is now the longest idle.
        ask(&mut kept[0]).unwrap();
        ask(&mut TcpStream::connect(address).unwrap()).expect("another comes in");
        // A thread that is still busy with its last answer may answer once more before it closes it.
        assert!((0..20).any(|_| ask(&mut kept[1]).is_err()), "it gave way");
        ask(&mut kept[0]).expect("it did not");
        served.abort();
    }
}

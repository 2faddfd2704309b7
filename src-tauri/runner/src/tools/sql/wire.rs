//! Connections to PostgreSQL servers. Owns connecting, the limit of received data, and cancelling
//! queries; knows nothing about the queries.
use super::address::{Server, Tls};
use super::shape::size;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio::task::JoinHandle;
use tokio_postgres::config::Host;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::{CancelToken, Client, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

/// Maximum number of bytes that a server may send in one call. Without this limit the library would
/// buffer even a single value of a gigabyte before it could be cut.
const MOST: usize = 32 << 20;

/// Timeout for connecting to a host.
const PATIENCE: Duration = Duration::from_secs(10);

/// Timeout for sending a cancellation.
const PATIENCE_TO_CANCEL: Duration = Duration::from_secs(2);

/// A connection. It is closed on drop, whatever the server is doing.
pub(super) struct Session {
    pub(super) client: Client,
    driver: JoinHandle<()>,
    cancel: Cancel,
    /// Set once the server sent too much.
    flooded: Arc<AtomicBool>,
}

impl Drop for Session {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

/// Handle for cancelling the query of a session.
#[derive(Clone)]
pub(super) struct Cancel {
    token: CancelToken,
    server: Server,
    /// Index of the host that answered.
    at: usize,
}

impl Session {
    /// Connects to the first host that answers. Fails with a sentence that contains no addresses
    /// and passwords.
    pub(super) async fn open(server: &Server) -> Result<Self, String> {
        let mut reason = "The server has no address.".to_owned();
        for at in 0..server.config.get_hosts().len() {
            match tokio::time::timeout(PATIENCE, Self::open_at(server, at)).await {
                Ok(Ok(session)) => return Ok(session),
                Ok(Err(why)) => reason = why,
                Err(_) => {
                    reason =
                        format!("The server did not answer within {} seconds.", PATIENCE.as_secs());
                }
            }
        }
        Err(reason)
    }

    async fn open_at(server: &Server, at: usize) -> Result<Self, String> {
        let (stream, name) = stream(server, at).await?;
        let flooded = Arc::clone(&stream.flooded);
        let (client, driver) = match connector(&server.tls)? {
            None => {
                let made = server
                    .config
                    .connect_raw(stream, NoTls)
                    .await
                    .map_err(|error| words(&error))?;
                (made.0, tokio::spawn(driven(made.1)))
            }
            Some(mut tls) => {
                let Ok(tls) = MakeTlsConnect::<Metered>::make_tls_connect(&mut tls, &name);
                let made =
                    server.config.connect_raw(stream, tls).await.map_err(|error| words(&error))?;
                (made.0, tokio::spawn(driven(made.1)))
            }
        };
        let cancel = Cancel { token: client.cancel_token(), server: server.clone(), at };
        Ok(Session { client, driver, cancel, flooded })
    }

    /// Returns a handle that cancels the session's query.
    pub(super) fn cancel(&self) -> Cancel {
        self.cancel.clone()
    }

    /// Returns the error if the connection was closed because the server sent too much.
    pub(super) fn broken(&self) -> Option<String> {
        let why = || format!("The server sent more than {}. Ask for less.", size(MOST));
        self.flooded.load(Ordering::Acquire).then(why)
    }
}

impl Cancel {
    /// Asks the server to cancel. The request may get lost; the server's statement timeout then
    /// stops the query.
    pub(super) async fn now(self) {
        let _ = tokio::time::timeout(PATIENCE_TO_CANCEL, self.sent()).await;
    }

    async fn sent(self) -> Result<(), String> {
        let (stream, name) = stream(&self.server, self.at).await?;
        let sent = match connector(&self.server.tls)? {
            None => self.token.cancel_query_raw(stream, NoTls).await,
            Some(mut tls) => {
                let Ok(tls) = MakeTlsConnect::<Metered>::make_tls_connect(&mut tls, &name);
                self.token.cancel_query_raw(stream, tls).await
            }
        };
        sent.map_err(|error| words(&error))
    }
}

async fn driven<F: Future<Output = Result<(), tokio_postgres::Error>>>(connection: F) {
    // The query over this connection reports the error.
    let _ = connection.await;
}

async fn stream(server: &Server, at: usize) -> Result<(Metered, String), String> {
    let ports = server.config.get_ports();
    let port = ports.get(at).or(ports.first()).copied().unwrap_or(5432);
    let refused = |error: io::Error| format!("The server cannot be reached: {}.", error.kind());
    let (inner, name): (Box<dyn Stream>, String) = match server.config.get_hosts().get(at) {
        Some(Host::Tcp(name)) => {
            let bare = name.trim_start_matches('[').trim_end_matches(']');
            let stream = TcpStream::connect((bare, port)).await.map_err(refused)?;
            let _ = stream.set_nodelay(true);
            (Box::new(stream), bare.to_owned())
        }
        Some(Host::Unix(dir)) => {
            let socket = dir.join(format!(".s.PGSQL.{port}"));
            (Box::new(UnixStream::connect(socket).await.map_err(refused)?), String::new())
        }
        None => return Err("The server has no address.".to_owned()),
    };
    Ok((Metered { inner: Pin::from(inner), left: MOST, flooded: Arc::default() }, name))
}

/// Returns `None` if the connection is not encrypted.
fn connector(tls: &Tls) -> Result<Option<MakeRustlsConnect>, String> {
    match tls {
        Tls::Off => Ok(None),
        Tls::Verified(None) => match MakeRustlsConnect::with_native_certs() {
            Ok((connector, _)) => Ok(Some(connector)),
            Err(_) => {
                Err("No certificates are installed here, so the server cannot be verified."
                    .to_owned())
            }
        },
        Tls::Verified(Some(file)) => trusting(file).map(Some),
    }
}

fn trusting(file: &Path) -> Result<MakeRustlsConnect, String> {
    let unread = || "The file of `sslrootcert` holds no certificate that can be read.".to_owned();
    let text = fs_err::read(file).map_err(|_| unread())?;
    let mut roots = rustls::RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(&text) {
        roots.add(certificate.map_err(|_| unread())?).map_err(|_| unread())?;
    }
    if roots.is_empty() {
        return Err(unread());
    }
    let config = rustls::ClientConfig::builder_with_provider(Arc::new(
        rustls::crypto::ring::default_provider(),
    ))
    .with_safe_default_protocol_versions()
    .map_err(|_| unread())?
    .with_root_certificates(roots)
    .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

/// Formats an error: the server's message, or the library's with its cause.
pub(super) fn words(error: &tokio_postgres::Error) -> String {
    if let Some(said) = error.as_db_error() {
        let mut words = said.message().to_owned();
        for (name, more) in [("Detail", said.detail()), ("Hint", said.hint())] {
            if let Some(more) = more {
                words = format!("{}. {name}: {more}", words.trim_end_matches('.'));
            }
        }
        return words;
    }
    let cause =
        std::error::Error::source(error).map_or_else(String::new, |cause| format!(": {cause}"));
    format!("{error}{cause}")
}

trait Stream: AsyncRead + AsyncWrite + Send {}

impl<T: AsyncRead + AsyncWrite + Send> Stream for T {}

/// A stream that fails after too many received bytes.
struct Metered {
    inner: Pin<Box<dyn Stream>>,
    left: usize,
    flooded: Arc<AtomicBool>,
}

impl AsyncRead for Metered {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.left == 0 {
            self.flooded.store(true, Ordering::Release);
            return Poll::Ready(Err(io::Error::other("too much")));
        }
        let before = buf.filled().len();
        let polled = self.inner.as_mut().poll_read(cx, buf);
        self.left = self.left.saturating_sub(buf.filled().len() - before);
        polled
    }
}

impl AsyncWrite for Metered {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.inner.as_mut().poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.inner.as_mut().poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.inner.as_mut().poll_shutdown(cx)
    }
}

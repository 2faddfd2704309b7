//! Socket of a connection, with controlled closing. A client that keeps its end open after the
//! server has closed keeps a port of this machine occupied, and ports are limited. A connection
//! without an admitted request that does not end in time is therefore reset, which frees both.
use super::connections::Connection;
use std::{
    future::Future as _,
    io::{self, IoSlice},
    mem::MaybeUninit,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    time::Sleep,
};

/// Time for an untrusted client to close the connection after the response.
const LAST_MOMENT: Duration = Duration::from_secs(1);

pub(super) struct ClientSocket {
    stream: TcpStream,
    connection: Connection,
    /// True once the client has closed its side.
    ended: bool,
    moment: Option<Pin<Box<Sleep>>>,
}

impl ClientSocket {
    pub(super) fn new(stream: TcpStream, connection: Connection) -> Self {
        Self { stream, connection, ended: false, moment: None }
    }

    /// Discards incoming data until the client closes its side too.
    fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut space = [MaybeUninit::uninit(); 1024];
        while !self.ended {
            let mut buffer = ReadBuf::uninit(&mut space);
            if let Err(error) = ready!(Pin::new(&mut *self).poll_read(context, &mut buffer)) {
                self.ended = true;
                return Poll::Ready(Err(error));
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl Drop for ClientSocket {
    fn drop(&mut self) {
        if !self.ended && !self.connection.is_admitted() {
            // If this fails, the connection is closed normally.
            let _ = self.stream.set_zero_linger();
        }
    }
}

impl AsyncRead for ClientSocket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        let read = ready!(Pin::new(&mut self.stream).poll_read(context, into));
        self.ended |= read.is_ok() && into.filled().len() == before && into.remaining() > 0;
        Poll::Ready(read)
    }
}

impl AsyncWrite for ClientSocket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    /// Closes the sending side. An untrusted client gets a moment to read the response and to close
    /// its side.
    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.moment.is_none() {
            ready!(Pin::new(&mut self.stream).poll_shutdown(context))?;
            if self.ended || self.connection.is_admitted() {
                return Poll::Ready(Ok(()));
            }
        }
        let mut moment =
            self.moment.take().unwrap_or_else(|| Box::pin(tokio::time::sleep(LAST_MOMENT)));
        let over = moment.as_mut().poll(context).is_ready();
        self.moment = Some(moment);
        if over || self.poll_end(context).is_ready() { Poll::Ready(Ok(())) } else { Poll::Pending }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

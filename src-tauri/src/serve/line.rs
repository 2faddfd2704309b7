//! The socket of a connection, and how it is let go of. A stranger who keeps an end open that we
//! have closed keeps a port of this machine as well, and there are only so many; so a stranger's
//! connection that does not end by itself is reset, which frees both.
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

/// How long a stranger may take to end a connection once everything was said.
const LAST_MOMENT: Duration = Duration::from_secs(1);

pub(super) struct Line {
    stream: TcpStream,
    connection: Connection,
    /// The other side has said that it says nothing more.
    ended: bool,
    moment: Option<Pin<Box<Sleep>>>,
}

impl Line {
    pub(super) fn new(stream: TcpStream, connection: Connection) -> Self {
        Self { stream, connection, ended: false, moment: None }
    }

    /// Reads what still comes, and leaves it out, until the other side ends too.
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

impl Drop for Line {
    fn drop(&mut self) {
        if !self.ended && !self.connection.is_admitted() {
            // Where it is refused, the connection ends as others do.
            let _ = self.stream.set_zero_linger();
        }
    }
}

impl AsyncRead for Line {
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

impl AsyncWrite for Line {
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

    /// Says that nothing more is said. A stranger is given a moment to have read the reply and to
    /// end as well.
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

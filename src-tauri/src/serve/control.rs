//! Lets `touchstone serve --again` ask a running server for one more address. Each server listens on
//! a socket in the state directory, in a directory that only this user can enter.
use super::Invites;
use std::{
    fs,
    io::{self, BufRead as _, BufReader, ErrorKind},
    os::unix::{fs::DirBuilderExt as _, net::UnixStream as Stream},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use tokio::{
    io::AsyncWriteExt as _,
    net::{UnixListener, UnixStream},
};

/// Directory of the sockets, below the state directory.
const DIR: &str = "serve";
const ENDING: &str = "sock";
/// Time that a server has to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// The socket of a running server. Removed when it is dropped.
pub(crate) struct Control {
    listener: UnixListener,
    path: PathBuf,
}

impl Control {
    /// Opens the socket of the server on this port. One that an ended server left is replaced. Fails
    /// if the directory cannot be written, or if its path is too long for a socket.
    pub(crate) fn open(state_dir: &Path, port: u16) -> io::Result<Self> {
        let dir = own_dir(state_dir)?;
        let path = dir.join(format!("{port}.{ENDING}"));
        // The port is ours, so no other server answers here.
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        Ok(Self { listener: UnixListener::bind(&path)?, path })
    }

    /// Answers each connection with a new address, which ends with `start`.
    pub(crate) async fn answer(self, invites: Arc<Invites>, start: String) {
        while let Ok((mut stream, _)) = self.listener.accept().await {
            if !is_ours(&stream) {
                continue;
            }
            match invites.address() {
                Ok(address) => {
                    let line = format!("{address}{start}\n");
                    // Whoever asked may be gone.
                    let _ = stream.write_all(line.as_bytes()).await;
                }
                Err(error) => tracing::warn!(%error, "another address could not be made"),
            }
        }
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Returns true if a program of this user connected.
fn is_ours(stream: &UnixStream) -> bool {
    stream.peer_cred().is_ok_and(|peer| peer.uid() == rustix::process::getuid().as_raw())
}

/// Returns the directory for sockets and sessions, which only this user can enter.
pub(super) fn own_dir(state_dir: &Path) -> io::Result<PathBuf> {
    let dir = state_dir.join(DIR);
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&dir)?;
    Ok(dir)
}

/// Returns the ports of the servers of this user that answer, in order.
pub(crate) fn running(state_dir: &Path) -> Vec<u16> {
    let entries = fs::read_dir(state_dir.join(DIR)).into_iter().flatten().flatten();
    let mut ports: Vec<u16> = entries
        .filter_map(|entry| {
            let path = entry.path();
            if path.extension()? != ENDING || Stream::connect(&path).is_err() {
                return None;
            }
            path.file_stem()?.to_str()?.parse().ok()
        })
        .collect();
    ports.sort_unstable();
    ports
}

/// Asks the server on this port for an address. Fails if none answers.
pub(crate) fn ask(state_dir: &Path, port: u16) -> io::Result<String> {
    let stream = Stream::connect(state_dir.join(DIR).join(format!("{port}.{ENDING}")))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line)?;
    let address = line.trim();
    if address.is_empty() {
        return Err(io::Error::new(ErrorKind::UnexpectedEof, "the server did not answer"));
    }
    Ok(address.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap()
    }

    #[test]
    fn a_running_server_gives_another_address_to_each_who_asks_and_an_ended_one_none() {
        let state = tempfile::tempdir().unwrap();
        let runtime = runtime();
        let control = runtime.block_on(async { Control::open(state.path(), 7).unwrap() });
        let mode = fs::metadata(state.path().join(DIR)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        let invites = Arc::new(Invites::new(7));
        let task = runtime.spawn(control.answer(Arc::clone(&invites), "#/runs".to_owned()));
        assert_eq!(running(state.path()), [7]);
        let (first, second) = (ask(state.path(), 7).unwrap(), ask(state.path(), 7).unwrap());
        assert!(first.starts_with("http://127.0.0.1:7/?token=") && first.ends_with("#/runs"));
        assert_ne!(first, second);
        task.abort();
        let _ = runtime.block_on(task);
        assert!(ask(state.path(), 7).is_err());
        assert!(running(state.path()).is_empty());
    }

    #[test]
    fn a_socket_that_a_killed_server_left_is_replaced_and_counts_as_none() {
        let state = tempfile::tempdir().unwrap();
        let path = own_dir(state.path()).unwrap().join("7.sock");
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        assert!(path.exists() && running(state.path()).is_empty());
        let opened = runtime().block_on(async { Control::open(state.path(), 7).is_ok() });
        assert!(opened);
    }
}

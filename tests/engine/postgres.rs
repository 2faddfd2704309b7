//! A private PostgreSQL server for the tests: in a temporary folder, on its own port, started once
//! for this binary. A shell process holds it and ends it when this process is gone for any reason;
//! folders of dead test processes are deleted.
use fs_err as fs;
use futures_util::StreamExt as _;
use std::io::Write as _;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio_postgres::{AsyncMessage, Client, NoTls};

/// Password of every role here.
pub(crate) const PASSWORD: &str = "canary-pässword@/:%";

const PREFIX: &str = "touchstone-postgres-";

/// Time a server may take to start on a busy machine.
const DEADLINE: Duration = Duration::from_mins(1);

/// Ends the server and removes its folder when its standard input is closed.
const KEEPER: &str = r#"
"$1/postgres" -D "$2/db" >"$2/log" 2>&1 </dev/null &
server=$!
cat >/dev/null
kill -INT $server
wait $server
rm -rf "$2"
"#;

/// The server. Its keeper ends with this process.
pub(crate) struct Server {
    pub(crate) port: u16,
    pub(crate) dir: PathBuf,
    _keeper: Child,
}

static SERVER: OnceLock<Server> = OnceLock::new();
static DATABASES: AtomicU32 = AtomicU32::new(0);

/// Returns the only server of this binary, starting it on first use.
pub(crate) fn server() -> &'static Server {
    SERVER.get_or_init(|| {
        let begun = Instant::now();
        // On a separate thread, because the caller may be inside a runtime.
        let server = std::thread::spawn(Server::start).join().expect("the server of the tests");
        println!("PostgreSQL was ready after {:?}", begun.elapsed());
        server
    })
}

impl Server {
    fn start() -> Self {
        let programs = programs();
        sweep();
        let temp = std::env::temp_dir();
        let owner = owner();
        let dir = temp.join(format!("{PREFIX}{}", std::process::id()));
        fs::create_dir(&dir).unwrap();
        fs::set_permissions(&dir, std::fs::Permissions::from_mode(0o700)).unwrap();
        fs::write(dir.join("password"), PASSWORD).unwrap();
        certificate(&dir);
        if let Some((uid, gid)) = owner {
            for path in
                [dir.clone(), dir.join("password"), dir.join("server.key"), dir.join("server.crt")]
            {
                chown(path, Some(uid), Some(gid)).unwrap();
            }
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        make(&programs, &dir, port, owner);
        let mut keeper = as_owner(Command::new("sh"), &dir, owner);
        keeper.args(["-c", KEEPER, "keeper"]).arg(&programs).arg(&dir).stdin(Stdio::piped());
        let keeper = keeper.process_group(0).spawn().unwrap();
        let server = Server { port, dir, _keeper: keeper };
        server.wait();
        server
    }

    fn wait(&self) {
        let begun = Instant::now();
        loop {
            match block(self.admin_of("postgres")) {
                Ok(_) => break,
                Err(error) => {
                    let log = fs::read_to_string(self.dir.join("log")).unwrap_or_default();
                    assert!(begun.elapsed() < DEADLINE, "PostgreSQL did not start: {error}\n{log}");
                    std::thread::yield_now();
                }
            }
        }
        let roles = format!(
            "CREATE ROLE ro LOGIN PASSWORD '{PASSWORD}'; CREATE ROLE rw LOGIN PASSWORD '{PASSWORD}'; \
             CREATE ROLE member LOGIN NOINHERIT PASSWORD '{PASSWORD}'; GRANT rw TO member; \
             CREATE ROLE files LOGIN PASSWORD '{PASSWORD}'; GRANT pg_read_server_files TO files; \
             CREATE ROLE boss SUPERUSER LOGIN PASSWORD '{PASSWORD}'"
        );
        block(async {
            self.admin_of("postgres").await.unwrap().batch_execute(&roles).await.unwrap();
        });
    }

    async fn admin_of(&self, database: &str) -> Result<Client, tokio_postgres::Error> {
        connect(self.port, "postgres", database).await
    }
}

/// A database for one test.
pub(crate) struct Database {
    pub(crate) name: String,
    pub(crate) port: u16,
}

/// Preparation by the owner before a role is read-only: revokes functions whose effects a rollback
/// does not undo from everyone.
const REVOKED: &str = "
    DO $$ DECLARE f regprocedure; BEGIN
      FOR f IN SELECT oid FROM pg_proc WHERE proname IN ('pg_logical_emit_message', 'pg_terminate_backend', 'pg_cancel_backend')
      LOOP EXECUTE 'REVOKE EXECUTE ON ROUTINE ' || f || ' FROM PUBLIC'; END LOOP;
    END $$";

impl Database {
    /// Creates a database with a table that `ro` can read and `rw` can write.
    pub(crate) async fn new() -> Self {
        let database = Self::as_installed().await;
        database.as_role("postgres").await.batch_execute(REVOKED).await.unwrap();
        database
    }

    /// Like `new`, without revoking the functions that every database grants to everyone.
    pub(crate) async fn as_installed() -> Self {
        let server = server();
        let name = format!("t{}", DATABASES.fetch_add(1, Ordering::Relaxed));
        let admin = server.admin_of("postgres").await.unwrap();
        admin.batch_execute(&format!("CREATE DATABASE {name}")).await.unwrap();
        let database = Database { name, port: server.port };
        let content = "
            REVOKE CREATE ON SCHEMA public FROM PUBLIC;
            CREATE TABLE items (id int PRIMARY KEY, name text);
            INSERT INTO items VALUES (1, 'one'), (2, 'two');
            GRANT SELECT ON items TO ro, files;
            GRANT SELECT, INSERT, UPDATE, DELETE ON items TO rw;
            CREATE PROCEDURE slip() LANGUAGE plpgsql AS
              $$ BEGIN COMMIT; SET TRANSACTION READ WRITE; INSERT INTO items VALUES (99, 'slipped'); END $$;
            CREATE FUNCTION sly() RETURNS int LANGUAGE plpgsql AS $$ BEGIN INSERT INTO items VALUES (98, 'sly'); RETURN 1; END $$;";
        database.as_role("postgres").await.batch_execute(content).await.unwrap();
        database
    }

    /// Opens a plain connection, without the restrictions of the SQL tool.
    pub(crate) async fn as_role(&self, role: &str) -> Client {
        connect(self.port, role, &self.name).await.unwrap()
    }

    /// Opens a connection that listens to a channel, and returns it with its notifications.
    pub(crate) async fn listening(
        &self,
        channel: &str,
    ) -> (Client, mpsc::UnboundedReceiver<String>) {
        let (client, mut connection) =
            config(self.port, "postgres", &self.name).connect(NoTls).await.unwrap();
        let (heard, receiver) = mpsc::unbounded_channel();
        let mut messages =
            futures_util::stream::poll_fn(move |context| connection.poll_message(context));
        tokio::spawn(async move {
            while let Some(Ok(message)) = messages.next().await {
                if let AsyncMessage::Notification(said) = message {
                    // The receiver is gone when the test is over.
                    let _ = heard.send(said.payload().to_owned());
                }
            }
        });
        client.batch_execute(&format!("LISTEN {channel}")).await.unwrap();
        (client, receiver)
    }

    /// Number of rows of the table, as seen by another connection.
    pub(crate) async fn rows(&self) -> i64 {
        let row = self
            .as_role("postgres")
            .await
            .query_one("SELECT count(*) FROM items", &[])
            .await
            .unwrap();
        row.get(0)
    }

    /// Restores the table to its two rows.
    pub(crate) async fn restore(&self) {
        let content = "TRUNCATE items; INSERT INTO items VALUES (1, 'one'), (2, 'two')";
        self.as_role("postgres").await.batch_execute(content).await.unwrap();
    }
}

async fn connect(port: u16, role: &str, database: &str) -> Result<Client, tokio_postgres::Error> {
    let (client, connection) = config(port, role, database).connect(NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

fn config(port: u16, role: &str, database: &str) -> tokio_postgres::Config {
    let mut config = tokio_postgres::Config::new();
    config.host("127.0.0.1").port(port).user(role).password(PASSWORD).dbname(database);
    config
}

fn block<T>(act: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(act)
}

/// Directory of the server's programs.
fn programs() -> PathBuf {
    let mut versions: Vec<PathBuf> = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path().join("bin")))
        .filter(|bin| bin.join("initdb").exists() && bin.join("postgres").exists())
        .collect();
    versions.sort();
    let on_path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&on_path).find_map(|dir| {
        let real = fs::canonicalize(dir.join("postgres")).ok()?;
        Some(real.parent()?.to_path_buf()).filter(|bin| bin.join("initdb").exists())
    });
    versions.pop().or(on_path).expect(
        "PostgreSQL is not installed: run `make setup-test`, or install the package postgresql",
    )
}

/// User the server runs as, since PostgreSQL refuses to run as root.
fn owner() -> Option<(u32, u32)> {
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").unwrap();
    let of = |name: &str| {
        let line = users.lines().find(|line| line.starts_with(&format!("{name}:")))?;
        let mut parts = line.split(':').skip(2);
        Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
    };
    let owner = of("postgres").or_else(|| of("nobody"));
    assert!(owner.is_some(), "there is no user postgres or nobody to run the server as");
    owner
}

fn as_owner(mut command: Command, dir: &Path, owner: Option<(u32, u32)>) -> Command {
    command.current_dir(dir);
    if let Some((uid, gid)) = owner {
        command.uid(uid).gid(gid);
    }
    command
}

fn make(programs: &Path, dir: &Path, port: u16, owner: Option<(u32, u32)>) {
    let mut initdb = as_owner(Command::new(programs.join("initdb")), dir, owner);
    initdb.args([
        "-D",
        "db",
        "-U",
        "postgres",
        "-A",
        "scram-sha-256",
        "--pwfile",
        "password",
        "-E",
        "UTF8",
    ]);
    let made = initdb.args(["--locale=C", "--no-sync", "--no-instructions"]).output().unwrap();
    assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
    let settings = format!(
        "\nlisten_addresses = '127.0.0.1'\nport = {port}\nunix_socket_directories = '{}'\nfsync = off\nfull_page_writes = off\n\
         synchronous_commit = off\nshared_buffers = 16MB\nmax_connections = 80\nautovacuum = off\nssl = on\n\
         ssl_cert_file = '{1}/server.crt'\nssl_key_file = '{1}/server.key'\n",
        dir.display(),
        dir.display()
    );
    let mut file =
        fs::OpenOptions::new().append(true).open(dir.join("db/postgresql.conf")).unwrap();
    file.write_all(settings.as_bytes()).unwrap();
}

/// Creates a self-signed certificate of the server.
fn certificate(dir: &Path) {
    let mut openssl = Command::new("openssl");
    openssl.current_dir(dir).args([
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
    ]);
    openssl.args([
        "-keyout",
        "server.key",
        "-out",
        "server.crt",
        "-days",
        "30",
        "-subj",
        "/CN=Server of the tests",
    ]);
    openssl.args([
        "-addext",
        "subjectAltName=DNS:localhost,IP:127.0.0.1",
        "-addext",
        "basicConstraints=critical,CA:FALSE",
    ]);
    let made = openssl.output().expect("openssl is not installed: run `make setup-test`");
    assert!(made.status.success(), "openssl: {}", String::from_utf8_lossy(&made.stderr));
    fs::set_permissions(dir.join("server.key"), std::fs::Permissions::from_mode(0o600)).unwrap();
}

/// Ends the servers and removes the folders of test processes that are gone together with their
/// keeper.
fn sweep() {
    for entry in fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(pid) = name.strip_prefix(PREFIX) else { continue };
        if Path::new("/proc").join(pid).exists() {
            continue;
        }
        let dir = entry.path();
        let noted = fs::read_to_string(dir.join("db/postmaster.pid")).unwrap_or_default();
        if let Some(server) = noted.lines().next().filter(|server| server.parse::<u32>().is_ok()) {
            // Only a process that has this folder open, since process numbers are reused.
            let command = fs::read(format!("/proc/{server}/cmdline")).unwrap_or_default();
            if String::from_utf8_lossy(&command).contains(dir.join("db").to_string_lossy().as_ref())
            {
                let _ = Command::new("kill").args(["-QUIT", server]).status();
            }
        }
        let _ = fs::remove_dir_all(dir);
    }
}

//! Keeps a copy up to date: lists all objects once and fetches them while it lists, then checks for
//! changes with a few requests at a time.
use super::address::BucketAddress;
use super::catalog::{Catalog, Version};
use super::changes::{self, Ask};
use super::client::Client;
use super::error::{BucketError, BucketErrorKind};
use super::marks::Marks;
use super::object_filter::{ObjectUse, object_use};
use super::rounds::{REQUESTS, Rounds};
use super::settings::Settings;
use super::status::{CLASH, Shared};
use super::stored_files::StoredFiles;
use super::xml::{ListPage, Listed};
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use reqwest::Version as HttpVersion;
use reqwest::header::TRANSFER_ENCODING;
use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{SendError, Sender};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;
use touchstone_clock as clock;
use touchstone_store::index_dir::create_private;

/// Names in the folder of a copy.
pub(crate) const OBJECTS: &str = "objects.jsonl";
/// File with the time when the last way round all keys began, in milliseconds since 1970.
pub(crate) const CHECKED: &str = "checked";
const INCOMING: &str = "incoming";
/// Number of objects that are fetched at the same time.
const AT_ONCE: usize = 16;
/// Number of tries of a request, and of those before a folder opens.
const TRIES: u32 = 6;
const FIRST_TRIES: u32 = 2;
/// Pause between two checks, and the longest one while checks fail.
const PAUSE: Duration = Duration::from_secs(2);
const LONGEST_PAUSE: Duration = Duration::from_mins(1);
/// Time until an object is tried again that the server did not hand out.
const LATER: Duration = Duration::from_mins(10);
/// Maximum number of objects of a copy, whose names are kept in memory.
const MOST: usize = 1_000_000;
/// Maximum number of pages in which folders are looked for before a bucket opens.
const MOST_OUTLINE_PAGES: usize = 10;
/// Workspace file.
const WORKSPACE: &str = "touchstone.yaml";
/// Feed of segments.
const SEGMENTS: &str = ".touchstone/segments/";
/// Number of changes after which the catalog is written.
const FLUSH: usize = 200;

/// Why one object was not fetched.
enum Failure {
    /// It stays out in this version, for this reason.
    Refused(String),
    /// It stays out for now, for this reason.
    Later(String),
    /// It ended before its length.
    Cut,
    /// It is gone; the next listing knows more.
    Gone,
    /// Nothing can be fetched.
    BucketError(BucketError),
}

impl Failure {
    /// Returns true if it may be over at the next try.
    fn is_passing(&self) -> bool {
        match self {
            Self::Cut => true,
            Self::BucketError(error) => error.is_passing(),
            Self::Refused(_) | Self::Later(_) | Self::Gone => false,
        }
    }
}

type Fetch = Pin<Box<dyn Future<Output = (Listed, Result<(), Failure>)> + Send>>;
type Listing = Pin<Box<dyn Future<Output = (Ask, Result<ListPage, BucketError>)> + Send>>;

/// What the thread of a copy works with.
pub(crate) struct Work {
    pub(crate) dir: PathBuf,
    pub(crate) files: PathBuf,
    pub(crate) address: BucketAddress,
    pub(crate) settings: Settings,
    pub(crate) object_bytes: u64,
    pub(crate) depth: usize,
    pub(crate) result_folders: &'static [&'static str],
    pub(crate) once: bool,
    pub(crate) shared: Arc<Shared>,
    pub(crate) stop: CancellationToken,
}

impl Work {
    pub(crate) fn incoming(&self) -> PathBuf {
        self.dir.join(INCOMING)
    }

    pub(crate) fn objects(&self) -> PathBuf {
        self.dir.join(OBJECTS)
    }

    /// Records in a file when the last way round all keys began, for other processes. That the file
    /// is written says that this one is at work.
    fn tell_checked(&self, begun_ms: i64) {
        let file = create_private(&self.dir.join(CHECKED));
        if let Err(error) = file.and_then(|mut file| write!(file, "{begun_ms}")) {
            tracing::debug!(%error, "the time of the check could not be written");
        }
    }

    pub(crate) fn unwritable(&self, error: &std::io::Error) -> BucketError {
        unwritable(&self.dir, error)
    }
}

/// Describes a copy that cannot be written.
pub(crate) fn unwritable(dir: &Path, error: &std::io::Error) -> BucketError {
    let why = touchstone_store::open::reason(error);
    let message = format!("The copy in {} cannot be written: {why}.", dir.display());
    let hint = "Free some space, or set XDG_CACHE_HOME to a folder with enough of it.";
    BucketError::new(BucketErrorKind::Disk, message, hint)
}

/// State of the thread of a copy.
pub(crate) struct Follower {
    work: Work,
    client: Arc<Client>,
    files: Arc<StoredFiles>,
    catalog: Catalog,
    rounds: Rounds,
    marks: Marks,
    /// Names in lower case, on a disk that does not tell cases apart.
    folded: Option<BTreeMap<String, String>>,
    /// Objects to fetch.
    pending: VecDeque<Listed>,
    /// Number of objects on their way.
    on_way: usize,
    unflushed: usize,
    /// When the present way round all keys began, and the last one that ended.
    round_ms: Option<i64>,
    checked_ms: Option<i64>,
}

impl Follower {
    pub(crate) fn new(work: Work) -> Result<Self, BucketError> {
        let of_disk = |error: io::Error| work.unwritable(&error);
        let files = StoredFiles::open(&work.files, &work.incoming()).map_err(of_disk)?;
        let read = Catalog::read(&work.objects()).map_err(of_disk)?;
        files.keep_only(&|key| read.0.objects.contains_key(key)).map_err(of_disk)?;
        let has = |key: &str, size| files.has(key, size);
        let mut catalog = Catalog::go_on(read, &work.objects(), has).map_err(of_disk)?;
        let marks = Marks::new(&work.dir, &work.address);
        // A mark that could not be copied is found by listing everything again.
        catalog.complete &= marks.known;
        let folded = files.ignores_case().then(|| {
            let keys = catalog.objects.keys();
            keys.map(|key| (key.to_lowercase(), key.to_string())).collect()
        });
        let shared = Arc::clone(&work.shared);
        let waiting = Arc::new(move |error: Option<&BucketError>| shared.waiting(error));
        let (settings, stop) = (work.settings.clone(), work.stop.clone());
        let client = Arc::new(Client::new(&work.address, settings, stop, waiting)?);
        let mut rounds = Rounds::default();
        for (key, _) in newest(&catalog) {
            rounds.changed(&key);
        }
        let (files, pending) = (Arc::new(files), VecDeque::new());
        Ok(Self {
            work,
            client,
            files,
            catalog,
            rounds,
            marks,
            folded,
            pending,
            on_way: 0,
            unflushed: 0,
            round_ms: None,
            checked_ms: None,
        })
    }

    fn shared(&self) -> &Shared {
        &self.work.shared
    }

    /// Runs until it is stopped, or until everything was listed once. Tells `ready` once the folder
    /// can be opened, or why it cannot.
    pub(crate) async fn run(mut self, ready: &Sender<Result<(), BucketError>>) {
        let mut pause = PAUSE;
        while self.catalog.objects.is_empty()
            && let Err(error) = self.outline().await
        {
            // A folder that is open already, because another process kept its copy, is tried again.
            let Err(SendError(Err(error))) = ready.send(Err(error)) else { return };
            self.shared().change(|status| status.error = Some(error));
            if self.stopped_within(pause).await {
                return;
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        self.tell();
        let _ = ready.send(Ok(()));
        self.marks.look_above(&self.client).await;
        while !self.work.stop.is_cancelled() {
            let begun_ms = clock::now_ms();
            let before = self.client.requests.load(Ordering::Relaxed);
            let whole = self.work.once || !self.catalog.complete;
            self.round_ms.get_or_insert(begun_ms);
            let mut done = if whole { self.copy_all().await } else { self.check().await };
            if let Err(error) = self.catalog.flush() {
                done = done.and(Err(self.work.unwritable(&error)));
            }
            self.pending.clear();
            let requests = self.client.requests.load(Ordering::Relaxed);
            let error = done.err().filter(|error| error.kind != BucketErrorKind::Stopped);
            pause = if error.is_some() { (pause * 2).min(LONGEST_PAUSE) } else { PAUSE };
            let is_well = error.is_none() && !self.work.stop.is_cancelled();
            let is_whole = self.catalog.complete && !self.shared().lacks_marks();
            let settled = self.marks.settle(is_well, is_whole);
            let settled = settled.err().map(|error| self.work.unwritable(&error));
            let error = error.or(settled);
            if whole && is_well {
                self.checked_ms = Some(begun_ms);
            }
            if is_well {
                // Before the first way round has ended, 0 says only that this process is at work.
                self.work.tell_checked(self.checked_ms.unwrap_or(0));
            }
            self.tell();
            self.shared().change(|status| {
                status.waiting = None;
                status.listing = false;
                status.error = error;
                status.requests = requests;
                status.last_check_requests = requests - before;
                if is_well {
                    status.checked_ms = Some(clock::now_ms());
                }
            });
            if self.work.once {
                return;
            }
            if self.stopped_within(pause).await {
                return;
            }
        }
    }

    /// Waits, and returns true if it was stopped meanwhile.
    async fn stopped_within(&self, pause: Duration) -> bool {
        self.work.stop.run_until_cancelled(tokio::time::sleep(pause)).await.is_none()
    }

    /// Updates the numbers of the status.
    fn tell(&self) {
        let copied = self.catalog.objects.len() as u64;
        let total = copied + (self.pending.len() + self.on_way) as u64;
        let complete = self.catalog.complete;
        self.shared().progress(|status| {
            (status.copied, status.total, status.complete) = (copied, total, complete);
        });
    }

    /// Finds the folders and the workspace file before anything else, because they decide where
    /// tasks and results are.
    async fn outline(&mut self) -> Result<(), BucketError> {
        for folder in &self.top_folders().await? {
            let name = folder.trim_end_matches('/');
            let is_placed = object_use(&format!("{name}/x"), self.work.depth) == ObjectUse::Copied;
            if is_placed && self.files.make_folder(name).is_ok() && self.may_hold_results(name) {
                let ask = Ask { prefix: folder.clone(), after: String::new() };
                let below = self.client.list_folders(&ask, FIRST_TRIES).await?;
                let ours = format!("{folder}.touchstone/");
                if below.folders.contains(&ours) {
                    let made = self.files.make_folder(&ours);
                    made.map_err(|error| self.work.unwritable(&error))?;
                }
            }
        }
        let ask = Ask { prefix: WORKSPACE.to_owned(), after: String::new() };
        let named_so = self.client.list(&ask, FIRST_TRIES).await?;
        let is_first = |object: &Listed| object.key == WORKSPACE;
        if let Some(object) = named_so.objects.into_iter().find(is_first) {
            let fetch = self.fetch(object);
            let (object, done) = fetch.await;
            self.fetched(object, done)?;
        }
        Ok(())
    }

    /// Lists the folders of the first level.
    async fn top_folders(&self) -> Result<Vec<String>, BucketError> {
        let (mut folders, mut ask) = (Vec::new(), Ask::default());
        for _ in 0..MOST_OUTLINE_PAGES {
            let page = self.client.list_folders(&ask, FIRST_TRIES).await?;
            let keys = page.objects.iter().map(|object| &object.key);
            let last = keys.chain(&page.folders).max().filter(|last| **last > ask.after).cloned();
            folders.extend(page.folders);
            match last.filter(|_| page.truncated) {
                // What is in the last folder stands after its name.
                Some(last) if last.ends_with('/') => ask.after = format!("{last}\u{10ffff}"),
                Some(last) => ask.after = last,
                None => break,
            }
        }
        folders.dedup();
        Ok(folders)
    }

    fn may_hold_results(&self, name: &str) -> bool {
        self.work.result_folders.contains(&name)
    }

    /// Lists everything, and fetches while it lists.
    async fn copy_all(&mut self) -> Result<(), BucketError> {
        self.shared().change(|status| status.listing = true);
        let mut fetching: FuturesUnordered<Fetch> = FuturesUnordered::new();
        let mut listing = Some(self.listing(Ask::default()));
        loop {
            self.fill(&mut fetching);
            if listing.is_none() && fetching.is_empty() {
                break;
            }
            tokio::select! {
                // A fast listing would otherwise keep objects waiting.
                biased;
                Some((object, done)) = fetching.next() => {
                    self.on_way -= 1;
                    self.fetched(object, done)?;
                }
                (ask, page) = async { match listing.as_mut() {
                    Some(listing) => listing.await,
                    None => std::future::pending().await,
                } } => {
                    let (last, truncated) = self.note_page(&ask, page?)?;
                    listing = match last.filter(|_| truncated) {
                        Some(after) => Some(self.listing(Ask { after, ..ask })),
                        None => None,
                    };
                    if listing.is_none() {
                        self.shared().change(|status| status.listing = false);
                    }
                }
            }
            self.tell();
        }
        self.segments().await?;
        for (key, _) in newest(&self.catalog) {
            self.rounds.changed(&key);
        }
        self.catalog.completed().map_err(|error| self.work.unwritable(&error))
    }

    /// Asks for changes: the feed of segments, the folders that changed last, and the next part of
    /// all keys.
    async fn check(&mut self) -> Result<(), BucketError> {
        self.segments().await?;
        let hot = self.rounds.hot(self.catalog.objects.len());
        let mut left = REQUESTS - 1 - hot.len() - self.marks.requests();
        self.marks.look_at_next(&self.client).await;
        for ask in hot {
            let page = self.client.list(&ask, TRIES).await?;
            let (last, truncated) = self.note_page(&ask, page)?;
            self.rounds.went_hot(&ask.prefix, last.as_deref(), truncated);
        }
        while left > 0 {
            left -= 1;
            let ask = self.rounds.next();
            let page = self.client.list(&ask, TRIES).await?;
            let (last, truncated) = self.note_page(&ask, page)?;
            if self.rounds.went(last.as_deref(), truncated) {
                self.checked_ms = self.round_ms.replace(clock::now_ms());
                break;
            }
        }
        self.fetch_pending().await
    }

    async fn fetch_pending(&mut self) -> Result<(), BucketError> {
        let mut fetching: FuturesUnordered<Fetch> = FuturesUnordered::new();
        loop {
            self.fill(&mut fetching);
            let Some((object, done)) = fetching.next().await else { return Ok(()) };
            self.on_way -= 1;
            self.fetched(object, done)?;
            self.tell();
        }
    }

    /// Remembers new names in the feed of segments.
    async fn segments(&mut self) -> Result<(), BucketError> {
        let ask = Ask { prefix: SEGMENTS.to_owned(), after: self.catalog.last_segment.clone() };
        let page = self.client.list(&ask, TRIES).await?;
        changes::covered(&ask, &page).map_err(|_| self.client.bad_order())?;
        for object in page.objects {
            let noted = self.catalog.segment(&object.key);
            noted.map_err(|error| self.work.unwritable(&error))?;
        }
        Ok(())
    }

    fn listing(&self, ask: Ask) -> Listing {
        let client = Arc::clone(&self.client);
        Box::pin(async move {
            let page = client.list(&ask, TRIES).await;
            (ask, page)
        })
    }

    fn fill(&mut self, fetching: &mut FuturesUnordered<Fetch>) {
        self.on_way = fetching.len();
        while fetching.len() < AT_ONCE
            && let Some(object) = self.pending.pop_front()
        {
            fetching.push(self.fetch(object));
            self.on_way += 1;
        }
    }

    /// Takes over what a page says: removes what is gone, and queues what changed. Returns its last
    /// key, and whether more follows.
    fn note_page(
        &mut self,
        ask: &Ask,
        page: ListPage,
    ) -> Result<(Option<String>, bool), BucketError> {
        let covered = changes::covered(ask, &page).map_err(|_| self.client.bad_order())?;
        let gone = changes::gone(&self.catalog.objects, ask, &page);
        if !gone.is_empty() {
            self.shared().retry_clashes();
        }
        for key in gone {
            self.files.remove(&key).map_err(|error| self.work.unwritable(&error))?;
            self.note(|catalog| catalog.removed(&key))?;
            if let Some(folded) = &mut self.folded {
                folded.remove(&key.to_lowercase());
            }
            self.rounds.changed(&key);
        }
        let truncated = page.truncated;
        self.forget_refused(ask, &page, covered.last.as_deref());
        let changed = changes::changed(&self.catalog.objects, page.objects, Version::is);
        for object in changed {
            if self.is_wanted(&object) {
                self.rounds.changed(&object.key);
                self.pending.push_back(object);
            }
        }
        Ok((covered.last, truncated))
    }

    /// Forgets why objects were refused that are gone.
    fn forget_refused(&self, ask: &Ask, page: &ListPage, last: Option<&str>) {
        if self.shared().status().refused == 0 {
            return;
        }
        let listed = page.objects.iter().map(|object| object.key.as_str()).collect();
        let end = last.filter(|_| page.truncated);
        self.shared().accept_others((&ask.prefix, &ask.after, end), &listed);
    }

    /// Returns true if an object is to be fetched. One that cannot be copied is noted.
    fn is_wanted(&mut self, object: &Listed) -> bool {
        if self.shared().is_refused(object) {
            return false;
        }
        let why = match object_use(&object.key, self.work.depth) {
            ObjectUse::Ignored => return false,
            ObjectUse::Refused(why) => why.to_owned(),
            ObjectUse::Copied if object.size > self.work.object_bytes => {
                format!("it is larger than {} MB", self.work.object_bytes >> 20)
            }
            ObjectUse::Copied
                if self.catalog.objects.len() + self.pending.len() >= MOST
                    && !self.catalog.objects.contains_key(object.key.as_str()) =>
            {
                "there are more than 1,000,000 objects; open a longer prefix".to_owned()
            }
            ObjectUse::Copied => match self.same_but_case(&object.key) {
                Some(other) => format!("on this disk its name is the same as that of {other}"),
                None => return true,
            },
        };
        self.shared().refuse(&object.key, why);
        false
    }

    /// Returns the object whose name differs only in case, on a disk that does not tell cases
    /// apart.
    fn same_but_case(&mut self, key: &str) -> Option<String> {
        let folded = self.folded.as_mut()?;
        let other = folded.entry(key.to_lowercase()).or_insert_with(|| key.to_owned());
        (other != key).then(|| other.clone())
    }

    fn fetch(&self, object: Listed) -> Fetch {
        let (client, files) = (Arc::clone(&self.client), Arc::clone(&self.files));
        let most = self.work.object_bytes;
        Box::pin(async move {
            let done = fetch(&client, &files, &object, most).await;
            (object, done)
        })
    }

    fn fetched(&mut self, object: Listed, done: Result<(), Failure>) -> Result<(), BucketError> {
        match done {
            Ok(()) => {
                self.shared().accept(&object.key);
                self.note(|catalog| catalog.copied(object))
            }
            Err(Failure::Refused(why)) => {
                self.shared().refuse_version(object, why, None);
                Ok(())
            }
            Err(Failure::Later(why)) => {
                self.shared().refuse_version(object, why, Some(Instant::now() + LATER));
                Ok(())
            }
            Err(Failure::Cut) => {
                let why = "the server ends it in the middle".to_owned();
                self.shared().refuse_version(object, why, Some(Instant::now() + LATER));
                Ok(())
            }
            Err(Failure::Gone) => Ok(()),
            Err(Failure::BucketError(error)) => Err(error),
        }
    }

    fn note(
        &mut self,
        note: impl FnOnce(&mut Catalog) -> io::Result<()>,
    ) -> Result<(), BucketError> {
        let noted = note(&mut self.catalog).and_then(|()| {
            self.unflushed += 1;
            if self.unflushed < FLUSH {
                return Ok(());
            }
            self.unflushed = 0;
            self.catalog.flush()
        });
        noted.map_err(|error| self.work.unwritable(&error))
    }
}

/// Fetches an object into its place.
async fn fetch(
    client: &Client,
    files: &StoredFiles,
    object: &Listed,
    most: u64,
) -> Result<(), Failure> {
    if !files.has_room(object.size) {
        let hint = "Free some space, open a longer prefix, or set XDG_CACHE_HOME to a folder with \
                    enough of it.";
        return Err(Failure::BucketError(BucketError::new(
            BucketErrorKind::Disk,
            files.no_room(),
            hint,
        )));
    }
    let (mut file, unfinished) = files.begin().map_err(|error| of_disk(&error))?;
    let mut turn = 0;
    loop {
        turn += 1;
        match write(client, object, most, &mut file).await {
            Err(failure) if turn < TRIES && failure.is_passing() => {
                // Its connection broke on the way; a busy server was waited for already.
                let emptied = file.set_len(0).and_then(|()| io::Seek::rewind(&mut file));
                emptied.map_err(|error| of_disk(&error))?;
            }
            done => break done?,
        }
    }
    let published = files.publish(file, unfinished, &object.key, object.modified_ms);
    published.map_err(|error| of_disk(&error))
}

async fn write(
    client: &Client,
    object: &Listed,
    most: u64,
    file: &mut fs_err::File,
) -> Result<(), Failure> {
    let mut response = client.get(&object.key, TRIES).await.map_err(|error| match error.kind {
        BucketErrorKind::NoObject => Failure::Gone,
        BucketErrorKind::Denied => Failure::Later("access to it is denied".to_owned()),
        // The listing says so if it is not about this object alone.
        BucketErrorKind::Settings | BucketErrorKind::Region | BucketErrorKind::Broken => {
            Failure::Later(error.message.trim_end_matches('.').to_owned())
        }
        _ => Failure::BucketError(error),
    })?;
    let mut written = 0;
    let headers = response.headers();
    let ends_itself = response.version() > HttpVersion::HTTP_11
        || response.content_length().is_some()
        || headers.contains_key(TRANSFER_ENCODING);
    while let Some(part) = client.part(&mut response).await.map_err(Failure::BucketError)? {
        written += part.len() as u64;
        if written > most {
            return Err(Failure::Refused(format!("it is larger than {} MB", most >> 20)));
        }
        file.write_all(&part).map_err(|error| of_disk(&error))?;
    }
    // Where the end of the connection is the end of the object, it may be only a part.
    if !ends_itself && written != object.size {
        return Err(Failure::Cut);
    }
    tracing::trace!(bytes = written, key = object.key, "an object was fetched");
    Ok(())
}

/// Describes an error of the disk: some names do not fit on it, everything else is about all files.
fn of_disk(error: &io::Error) -> Failure {
    use io::ErrorKind as Kind;
    match error.kind() {
        Kind::NotADirectory | Kind::IsADirectory | Kind::AlreadyExists => {
            Failure::Refused(CLASH.to_owned())
        }
        Kind::InvalidFilename | Kind::InvalidInput => {
            Failure::Refused("this disk cannot hold its name".to_owned())
        }
        _ => {
            let why = touchstone_store::open::reason(error);
            Failure::BucketError(BucketError::new(
                BucketErrorKind::Disk,
                format!("An object cannot be written to the cache: {why}."),
                "Free some space, or set XDG_CACHE_HOME to a folder with enough of it.",
            ))
        }
    }
}

/// Returns the objects that changed last, the newest at the end.
fn newest(catalog: &Catalog) -> Vec<(String, i64)> {
    let mut newest: Vec<(String, i64)> = Vec::new();
    for (key, version) in &catalog.objects {
        let oldest = newest.first().map_or(i64::MIN, |(_, ms)| *ms);
        if newest.len() < 4 || version.modified_ms > oldest {
            let at = newest.partition_point(|(_, ms)| *ms < version.modified_ms);
            newest.insert(at, (key.to_string(), version.modified_ms));
            if newest.len() > 4 {
                newest.remove(0);
            }
        }
    }
    newest
}

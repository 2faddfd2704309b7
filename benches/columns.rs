//! Measures lists, filter values and the overview of 1,000,000 runs: from columns in memory and, in the
//! same process, by SQL; while nothing changes, and while 100 runs a second arrive.
use crate::corpus;
use crate::floor;
use crate::measures::{Home, LONG, ms, spread, until};
use fs_err as fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use touchstone_api::{Column, ListRequest, OverviewRequest, OverviewView, Phase, Sort, Span};
use touchstone_store::folder_index::FolderIndex;
use touchstone_store::index::Reader;
use touchstone_store::limits::Limits;
use touchstone_store::query::Lists;
use touchstone_store::roots::Roots;

/// Name of the measurement.
pub(crate) const MEASURE: &str = "columns-1m";

/// Runs the measurement on the folder of an index.
pub(crate) fn run(dir: &Path) {
    let home = Home::filled(dir);
    let index = home.index();
    // The cache has a folder for each folder of runs, and in it one for each build.
    let cache = index.ancestors().nth(3).unwrap_or_else(|| panic!("there is no cache"));
    let dir = &fs::canonicalize(dir).unwrap_or_else(|e| panic!("{e}"));
    let roots =
        Roots { folder: dir.clone(), input_dir: None, output_dir: dir.clone(), ..Roots::default() };
    let flow =
        FolderIndex::start(roots, cache, Limits::default(), Box::new(|| None), Box::new(drop));
    let flow = flow.unwrap_or_else(|e| panic!("{e}"));
    let lists = Lists::new(&flow.shelf);
    let started = Instant::now();
    let total = list(&flow, &lists, "", Column::Modified);
    assert!(total >= 1_000_000, "{total} runs are in the index");
    println!("columns: first page of {total} runs after {}", ms(started.elapsed()));
    until("the columns are read", || bytes(&flow).is_some());
    let kept = bytes(&flow).unwrap_or_default();
    println!(
        "columns: read after {}, {} MB, {} bytes a run",
        ms(started.elapsed()),
        kept / 1_000_000,
        kept as u64 / total.max(1)
    );
    assert!(flow.live.wait(|now| now.phase == Phase::Ready, LONG), "the folder was never ready");
    println!("  memory before {} MB", floor::peak_mb());
    for way in ["columns", "SQL"] {
        if way == "SQL" {
            flow.index.limit_columns(0);
        }
        measure(&flow, &lists, way);
        println!("  peak memory {} MB", floor::peak_mb());
        arriving(dir, || measure(&flow, &lists, &format!("{way}, 100 runs a second arrive")));
        println!("  peak memory {} MB", floor::peak_mb());
    }
    flow.stop();
}

/// Does something while 100 runs a second arrive, and removes them.
fn arriving(dir: &Path, act: impl FnOnce()) {
    let folder = dir.join("arriving");
    fs::create_dir_all(&folder).unwrap_or_else(|e| panic!("{e}"));
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let started = Instant::now();
            for n in 0_u32.. {
                let text = corpus::transcript(&mut corpus::Dice::new(n.into()), 700);
                let part = folder.join(".part");
                fs::write(&part, text).unwrap_or_else(|e| panic!("{e}"));
                let name = format!("task{:03}-tool_calling-o1-variation{n}.yaml", n % 200);
                fs::rename(&part, folder.join(name)).unwrap_or_else(|e| panic!("{e}"));
                if is_done.load(Ordering::Relaxed) {
                    println!("  {n} runs arrived in {}", ms(started.elapsed()));
                    break;
                }
                let next = Duration::from_millis(10) * (n + 1);
                std::thread::park_timeout(next.saturating_sub(started.elapsed()));
            }
        });
        act();
        is_done.store(true, Ordering::Relaxed);
    });
    fs::remove_dir_all(&folder).unwrap_or_else(|e| panic!("{e}"));
}

fn measure(flow: &FolderIndex, lists: &Lists, way: &str) {
    let columns = [Column::Modified, Column::Cost, Column::Score, Column::Task, Column::Tokens];
    let filters =
        ["", "passed:no ", "system:promptql ", "task:group1/* ", "path:*run7* ", "-model:o1 "];
    let mut times = Vec::new();
    for n in 0..60 {
        // Another filter each time, so that no cached list is returned.
        let filter = format!("{}turns:>=0 size:>{}", filters[n % filters.len()], n / filters.len());
        let started = Instant::now();
        list(flow, lists, &filter, columns[n % columns.len()].clone());
        times.push(started.elapsed());
    }
    println!("{way}: page of a new filter and order: {}", spread(&mut times));
    let mut times = Vec::new();
    for n in 0..12 {
        let filter = format!("{}turns:>=0 size:>{n}", filters[n % filters.len()]);
        let started = Instant::now();
        overview(&reader(flow), flow, lists, filter);
        times.push(started.elapsed());
    }
    println!("{way}: overview of a new filter: first {}, {}", ms(times[0]), spread(&mut times));
    let started = Instant::now();
    lists.facets(&reader(flow)).unwrap_or_else(|e| panic!("{e}"));
    println!("{way}: values of filter keys: {}", ms(started.elapsed()));
}

fn list(flow: &FolderIndex, lists: &Lists, filter: &str, column: Column) -> u64 {
    let sort = Sort { column, descending: true };
    let span = Span { offset: 0, limit: 100 };
    let request = ListRequest { filter: filter.to_owned(), sort, span };
    lists.list(&reader(flow), &request).unwrap_or_else(|e| panic!("{e}")).total
}

fn overview(index: &Reader<'_>, flow: &FolderIndex, lists: &Lists, filter: String) {
    let request = OverviewRequest {
        filter,
        scorer: None,
        folded: true,
        except: Vec::new(),
        find: None,
        view: OverviewView::default(),
        span: Span { offset: 0, limit: 60 },
    };
    lists.overview(index, &flow.shelf.tasks(), &request).unwrap_or_else(|e| panic!("{e}"));
}

fn reader(flow: &FolderIndex) -> Reader<'_> {
    flow.index.reader().unwrap_or_else(|e| panic!("{e}"))
}

fn bytes(flow: &FolderIndex) -> Option<usize> {
    reader(flow).column_bytes()
}

//! Measures the real window, in a release build: the time from the start of the process to rows on
//! screen, and the frames while 100,000 rows scroll. Prints figures; never fails.
//!
//! `cargo bench --bench window`. Needs Xvfb and `WebKitWebDriver`, and the corpus that `cargo bench
//! --bench results` writes.
#![expect(
    clippy::unwrap_used,
    dead_code,
    reason = "a measurement ends by panicking, and does not need all of the driver"
)]

#[path = "../tests/desktop/driver.rs"]
mod driver;

use driver::Window;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const BINARY: &str = env!("CARGO_BIN_EXE_touchstone");
const SCROLL: &str = "
    const table = document.querySelector('[data-testid=runs-table]');
    const scroller = [table, ...table.querySelectorAll('*')].find((e) => e.scrollHeight > e.clientHeight + 1000);
    const box = scroller.getBoundingClientRect();
    const seen = { frames: [], blank: 0 };
    let last = performance.now(), n = 0;
    const frame = (now) => {
      seen.frames.push(Math.round(now - last)); last = now;
      const spots = [0.25, 0.5, 0.75].map((part) => document.elementFromPoint(box.left + 200, box.top + box.height * part));
      if (!spots.every((e) => e && e.closest('[data-testid=run-row]') && e.closest('[data-testid=run-row]').textContent.trim().length > 3)) seen.blank += 1;
      n += 1;
      if (n < 300) scroller.scrollTop += 60;
      else if (n < 360) scroller.scrollTop = scroller.scrollHeight * ((n * 37) % 60) / 60;
      else { window.scrolled = seen; return; }
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
    return true;";

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let home = root.join("target/corpus/window");
    for (what, folder) in
        [("the demo", root.join("demo")), ("100,000 runs", root.join("target/corpus/100000x700"))]
    {
        if !folder.exists() {
            println!("{what}: {} is not there", folder.display());
            continue;
        }
        let (cache, state) = (home.join("cache"), home.join("state"));
        let environment =
            [("TOUCHSTONE_CACHE_DIR", cache.as_path()), ("TOUCHSTONE_STATE_DIR", state.as_path())];
        // The index is completed first, so that every round is a warm start.
        let indexed = Command::new(BINARY)
            .arg("index")
            .arg(&folder)
            .envs(environment)
            .stdout(Stdio::null())
            .status()
            .unwrap();
        assert!(indexed.success(), "{what} could not be indexed");
        for round in 1..=6 {
            let window = Window::open(&[folder.to_str().unwrap()], &environment);
            window.until(
                "rows are listed",
                "return document.querySelectorAll('[data-testid=run-row]').length > 5",
            );
            let seen = since(started());
            let word = if round == 1 { " (first: the web view is not in memory yet)" } else { "" };
            println!(
                "{what}: rows on screen {} ms after the start of the process{word}",
                seen.as_millis()
            );
            if round == 6 && what != "the demo" {
                scroll(&window);
            }
        }
    }
}

fn scroll(window: &Window) {
    window.until(
        "the list is complete",
        "return /100[.,\\s]?000 runs/.test(document.body.innerText)",
    );
    window.run(SCROLL);
    let seen = window.until("the scrolling is done", "return window.scrolled ?? null");
    let mut frames: Vec<u64> =
        seen["frames"].as_array().unwrap().iter().filter_map(serde_json::Value::as_u64).collect();
    frames.sort_unstable();
    let at = |part: usize| frames[(frames.len() * part / 100).min(frames.len() - 1)];
    println!(
        "scrolling: {} frames, p50 {} ms, p95 {} ms, max {} ms, blank {}",
        frames.len(),
        at(50),
        at(95),
        at(100),
        seen["blank"]
    );
}

/// Start time of the newest process of the program, since 1970.
fn started() -> Duration {
    let uptime: f64 =
        fs::read_to_string("/proc/uptime").unwrap().split(' ').next().unwrap().parse().unwrap();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let newest = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
        let command = fs::read(entry.path().join("cmdline")).ok()?;
        command
            .starts_with(BINARY.as_bytes())
            .then(|| fs::read_to_string(entry.path().join("stat")).ok())?
    });
    let ticks = newest
        .filter_map(|stat| stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse::<u32>().ok())
        .max()
        .unwrap();
    // Ticks count from boot, and only the uptime gives the boot time to the hundredth of a second.
    now.saturating_sub(Duration::from_secs_f64(uptime - f64::from(ticks) / 100.0))
}

fn since(then: Duration) -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().saturating_sub(then)
}

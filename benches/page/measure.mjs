// Measures the served page in Chromium: blank frames while scrolling 100,000 rows, opening a 5 MB
// transcript and one of 100,000 messages with a 10 MB line, the longest blocked time, the delay
// until a new file is on screen, and the response of an overview of 200 tasks and 12 columns to
// keys, folds and scrolling. Usage: node benches/page/measure.mjs BINARY MANY_DIR LARGE_DIR
// MATRIX_DIR [NAME…] (names select measures; each result is printed as soon as it is known).
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

const require = createRequire(new URL("../../ui/package.json", import.meta.url));
const { chromium } = require("playwright-core");
const [binary, many, large, matrix, ...wanted] = process.argv.slice(2);
const chrome = process.env.TOUCHSTONE_CHROMIUM ?? "/usr/bin/chromium";
const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--no-first-run",
];

/** Serves a folder with its own cache until `use` finishes. */
async function served(folder, use) {
  const cache = mkdtempSync(join(tmpdir(), "touchstone-bench-"));
  const env = { ...process.env, TOUCHSTONE_CACHE_DIR: cache, TOUCHSTONE_STATE_DIR: cache };
  const server = spawn(binary, ["serve", folder, "--json"], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const url = await new Promise((resolve, reject) => {
      let out = "";
      server.stdout.on("data", (bytes) => {
        out += bytes;
        const line = out.split("\n")[0];
        if (out.includes("\n")) resolve(JSON.parse(line).url);
      });
      server.on("exit", (code) => reject(new Error(`serve ended with ${code}`)));
    });
    await use(url);
  } finally {
    server.kill("SIGINT");
    rmSync(cache, { recursive: true, force: true });
  }
}

/** Records every task that blocks the page for more than 50 ms. */
const watchLongTasks = () => {
  window.longTasks = [];
  new PerformanceObserver((list) =>
    window.longTasks.push(...list.getEntries().map((e) => Math.round(e.duration))),
  ).observe({
    type: "longtask",
    buffered: true,
  });
};

/** Number of tasks over 50 ms and over 100 ms, and the longest. */
const blocked = async (page) => {
  const tasks = await page.evaluate(() => window.longTasks.splice(0));
  return {
    over_50_ms: tasks.length,
    over_100_ms: tasks.filter((ms) => ms > 100).length,
    longest_ms: Math.max(0, ...tasks),
  };
};

/** Jumps and glides through the table. A frame is blank when no row with text is in its middle. */
async function scroll() {
  const table = document.querySelector('[data-testid="runs-table"]');
  const scroller = [table, ...table.querySelectorAll("*")].find(
    (e) => e.scrollHeight > e.clientHeight + 1000,
  );
  const box = scroller.getBoundingClientRect();
  const seen = {
    gliding: 0,
    gliding_blank: 0,
    jumps: 0,
    jumps_not_filled_after_two_frames: 0,
    worst: 0,
  };
  let last = performance.now();
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const look = async (top, kind, missed) => {
    scroller.scrollTop = top;
    await frame();
    await frame();
    const now = performance.now();
    seen.worst = Math.max(seen.worst, Math.round(now - last));
    last = now;
    seen[kind] += 1;
    const spots = [0.25, 0.5, 0.75].map((part) =>
      document.elementFromPoint(box.left + 200, box.top + box.height * part),
    );
    const filled = spots.every(
      (e) => (e?.closest('[data-testid="run-row"]')?.textContent ?? "").trim().length > 3,
    );
    if (!filled) seen[missed] += 1;
  };
  for (let top = 0, n = 0; n < 300; n += 1, top += 120) await look(top, "gliding", "gliding_blank");
  for (let n = 0; n < 60; n += 1)
    await look(
      (scroller.scrollHeight * ((n * 37) % 60)) / 60,
      "jumps",
      "jumps_not_filled_after_two_frames",
    );
  return seen;
}

const spread = (times) => {
  times.sort((a, b) => a - b);
  return {
    p50: times[times.length >> 1],
    p95: times[Math.floor(times.length * 0.95)],
    max: times.at(-1),
    n: times.length,
  };
};

/** Glides through the overview. A frame is blank when no row is in the middle of the grid. */
async function glide() {
  const grid = document.querySelector('[data-testid="overview-grid"]');
  const scroller = [grid, ...grid.querySelectorAll("*")].find(
    (e) => e.scrollHeight > e.clientHeight + 1000,
  );
  const box = scroller.getBoundingClientRect();
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const seen = { frames: 0, blank: 0, worst_ms: 0 };
  let last = performance.now();
  for (let top = 0; top < Math.min(scroller.scrollHeight, 24_000); top += 120) {
    scroller.scrollTop = top;
    await frame();
    await frame();
    const now = performance.now();
    seen.worst_ms = Math.max(seen.worst_ms, Math.round(now - last));
    last = now;
    seen.frames += 1;
    if (
      document
        .elementFromPoint(box.left + 200, box.top + box.height / 2)
        ?.closest('[data-testid="overview-row"]') == null
    )
      seen.blank += 1;
  }
  scroller.scrollTop = 0;
  return seen;
}

/** Time from each key press to the second frame after it, when the effect is on screen. */
async function overview(page) {
  await page.evaluate(() => {
    location.hash = "#/overview";
    window.pressed = [];
    const note = ({ timeStamp }) =>
      requestAnimationFrame(() =>
        requestAnimationFrame(() => window.pressed.push(Math.round(performance.now() - timeStamp))),
      );
    addEventListener("keydown", note, { capture: true });
  });
  await page.getByTestId("overview-row").first().waitFor();
  await page.getByTestId("overview-grid").focus();
  await page.evaluate(() => (window.longTasks.length = 0));
  const keys = async (key, times) => {
    for (let n = 1; n <= times; n += 1) {
      await page.keyboard.press(key);
      await page.waitForFunction((wanted) => window.pressed.length >= wanted, n);
    }
    return spread(await page.evaluate(() => window.pressed.splice(0)));
  };
  const took = {
    row_down_ms: await keys("j", 100),
    column_right_ms: await keys("l", 11),
    fold_all_ms: await keys("F", 6),
  };
  return { ...took, scroll: await page.evaluate(glide), blocked: await blocked(page) };
}

const browser = await chromium.launch({ executablePath: chrome, args: flags });
const open = async () => {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.addInitScript(watchLongTasks);
  return page;
};
/**
 * Waits until the full-text index is complete and scoring is done, so that only the page is
 * measured.
 */
const settled = (page) =>
  page.evaluate(async () => {
    const headers = { "content-type": "application/json", "x-touchstone": "1" };
    for (
      const began = performance.now();
      performance.now() - began < 300_000;
      await new Promise((later) => setTimeout(later, 200))
    ) {
      const reply = await fetch("/api/status", { method: "POST", headers, body: "{}" });
      if (!reply.ok) throw new Error(`how the folder stands was answered with ${reply.status}`);
      const { phase, search, scoring } = await reply.json();
      if (
        phase.kind === "ready" &&
        scoring === null &&
        search.indexed === search.total &&
        search.total > 0
      )
        return;
    }
    throw new Error("the folder was not read in five minutes");
  });
/**
 * Writes files one after the other in a separate process, so that writing does not delay the
 * measurement.
 */
const WRITER = `
const { mkdirSync, renameSync, writeFileSync } = require("node:fs");
const [folder, count] = process.argv.slice(1);
mkdirSync(folder + "/others");
for (let n = 0; n < count; n++) {
  writeFileSync(folder + "/others/.part", "conversation:\\n- user_message: other " + n + "\\n- assistant_message: done\\n");
  renameSync(folder + "/others/.part", folder + "/others/other" + n + "-tool_calling-o1-variation0.yaml");
}`;

/**
 * Delay from the rename of a file until it is on screen, in an existing folder and in a new one,
 * while `others` arrive.
 */
async function newFiles(others) {
  const folder = mkdtempSync(join(tmpdir(), "touchstone-new-"));
  const took = { known_folder: [], folder_made_now: [] };
  await served(folder, async (url) => {
    const page = await open();
    await page.goto(url);
    // Lists only the measured runs; others would push them out of sight.
    await page.goto(`${new URL(url).origin}/#/runs?q=${encodeURIComponent("path:*fresh*")}`);
    let writing = others > 0;
    const ended =
      writing &&
      spawn(process.execPath, ["-e", WRITER, folder, String(others)], { stdio: "inherit" }).once(
        "exit",
        () => (writing = false),
      );
    for (let n = 0; others > 0 ? writing || n < 10 : n < 40; n += 1) {
      const shown = page.evaluate(
        (name) =>
          new Promise((resolve) => {
            const look = () =>
              [...document.querySelectorAll('[data-testid="run-row"]')].some((row) =>
                row.textContent.includes(name),
              )
                ? resolve(Date.now())
                : requestAnimationFrame(look);
            look();
          }),
        `fresh${n}x`,
      );
      const made = n % 2 === 1;
      const place = made ? join(folder, `made${n}`) : folder;
      mkdirSync(place, { recursive: true });
      writeFileSync(
        join(place, ".part"),
        `conversation:\n- user_message: question ${n}\n- assistant_message: done\n`,
      );
      renameSync(join(place, ".part"), join(place, `fresh${n}x-tool_calling-o1-variation0.yaml`));
      const renamed = Date.now();
      (made ? took.folder_made_now : took.known_folder).push((await shown) - renamed);
    }
    if (ended && ended.exitCode === null)
      await new Promise((resolve) => ended.once("exit", resolve));
  });
  rmSync(folder, { recursive: true, force: true });
  return { known_folder: spread(took.known_folder), folder_made_now: spread(took.folder_made_now) };
}
/** A run of 100,000 messages, one of which has a line of 10 MB. */
function endless() {
  const folder = mkdtempSync(join(tmpdir(), "touchstone-endless-"));
  const lines = ["conversation:\n"];
  for (let at = 0; at < 100_000; at += 1)
    lines.push(
      at === 1
        ? `- assistant_message: ${"word ".repeat(2_000_000)}\n`
        : at % 2
          ? `- assistant_message: answer ${at}\n`
          : `- user_message: question ${at}\n`,
    );
  writeFileSync(join(folder, "endless-tool_calling-o1-variation0.yaml"), lines.join(""));
  return folder;
}

/**
 * Opens the only listed run. Measures the time until its first step is shown, and the blocking
 * tasks then and while scrolling.
 */
async function opens(page, act) {
  await page.waitForFunction(
    () => document.querySelectorAll('[data-testid="run-row"]').length === 1,
    undefined,
    { timeout: 60_000 },
  );
  await page.evaluate(() => {
    window.longTasks.length = 0;
    // Measures from the press, not from the moment the mouse starts to move.
    window.opened = new Promise((resolve) =>
      addEventListener(
        "click",
        ({ timeStamp }) => {
          const look = () =>
            document.querySelector('[data-testid="step"]')
              ? resolve(performance.now() - timeStamp)
              : requestAnimationFrame(look);
          look();
        },
        { capture: true, once: true },
      ),
    );
  });
  await page.getByTestId("run-row").first().click();
  const first_content_ms = Math.round(await page.evaluate(() => window.opened));
  await page.getByTestId("transcript").hover();
  for (let n = 0; n < 200; n += 1) await page.mouse.wheel(0, 400);
  await act?.();
  return { first_content_ms, blocked: await blocked(page) };
}

/** Serves a folder and measures when its first row is shown and the full-text index is complete. */
async function opened(folder, measure) {
  let result;
  await served(folder, async (url) => {
    const page = await open();
    await page.goto(`${url}#/runs`);
    await page.getByTestId("run-row").first().waitFor();
    await settled(page);
    result = await measure(page, url);
  });
  return result;
}

const MEASURES = {
  scroll: () =>
    opened(many, async (page) => {
      const seen = await page.evaluate(scroll);
      const scrolling = await blocked(page);
      const started = performance.now();
      await page.reload();
      await page.getByTestId("run-row").first().waitFor();
      return {
        ...seen,
        blocked: scrolling,
        reload_to_rows_ms: Math.round(performance.now() - started),
      };
    }),
  new_file_on_screen_ms: () => newFiles(0),
  new_file_on_screen_while_5000_arrive_ms: () => newFiles(5000),
  // The first run opened executes cold code, so it is not measured.
  open_5mb: () =>
    opened(large, async (page, url) => {
      await page.goto(`${new URL(url).origin}/#/runs?q=${encodeURIComponent("size:>5mb")}`);
      const first = await opens(page);
      await page.goBack();
      await page.reload();
      return { first, after_a_reload: await opens(page) };
    }),
  open_endless: async () => {
    const folder = endless();
    try {
      return await opened(folder, (page) =>
        opens(page, async () => {
          await page.keyboard.press("G");
          await page.getByText("answer 99999", { exact: true }).waitFor();
        }),
      );
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
  overview: () => opened(matrix, overview),
};

try {
  for (const [name, measure] of Object.entries(MEASURES)) {
    if (wanted.length === 0 || wanted.includes(name))
      console.log(JSON.stringify({ [name]: await measure() }));
  }
} finally {
  await browser.close();
}

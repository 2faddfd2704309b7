// Setup of the browser tests: an isolated folder, `touchstone serve` and a page in Chromium.
import { execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PROGRAM = join(ROOT, "target/debug/touchstone");
// The tests use the packages of the page.
const require = createRequire(join(ROOT, "ui/package.json"));
const { chromium } = require("playwright-core");
const { default: Axe } = require("@axe-core/playwright");

const PATIENCE = 20_000;

/** An installed browser, else the one of Playwright (scripts/setup.sh). */
function installed() {
  const names = [
    process.env.TOUCHSTONE_CHROMIUM,
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
  ].filter(Boolean);
  const places = names.flatMap((name) =>
    name.includes("/") ? [name] : process.env.PATH.split(delimiter).map((dir) => join(dir, name)),
  );
  const found = places.find((place) => existsSync(place));
  if (found === undefined) process.env.PLAYWRIGHT_BROWSERS_PATH ??= join(ROOT, ".tools/browsers");
  return found;
}

export const openBrowser = () =>
  chromium.launch({
    executablePath: installed(),
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"],
  });

/** A temporary folder with a copy of the demo, or with these files by name. */
export function folderWith(files = null) {
  const root = mkdtempSync(join(tmpdir(), "touchstone-browser-"));
  const folder = join(root, "sample");
  if (files === null) cpSync(join(ROOT, "demo"), folder, { recursive: true });
  else mkdirSync(folder);
  for (const [name, text] of Object.entries(files ?? {})) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return { root, folder, remove: () => rmSync(root, { recursive: true, force: true }) };
}

/**
 * Starts `touchstone serve`, or another command that serves, with its own cache and state; resolves
 * when it has printed its address. Appends `args` and `env`.
 */
export async function serve(
  place,
  { command = "serve", folder = place.folder, args = [], env: more = {} } = {},
) {
  const env = {
    ...process.env,
    ...more,
    TOUCHSTONE_CACHE_DIR: join(place.root, "cache"),
    TOUCHSTONE_STATE_DIR: join(place.root, "state"),
    TOUCHSTONE_DEMO_DIR: join(ROOT, "demo"),
  };
  const server = spawn(
    PROGRAM,
    [command, "--json", ...args, ...(folder === null ? [] : [folder])],
    { env, stdio: ["ignore", "pipe", "inherit"] },
  );
  const printed = createInterface({ input: server.stdout });
  const line = await new Promise((resolve, reject) => {
    printed.once("line", resolve);
    server.once("exit", (code) =>
      reject(new Error(`touchstone serve ended with status ${code} before it printed its address`)),
    );
  });
  const ended = new Promise((resolve) => server.once("exit", resolve));
  /** Requests shutdown without waiting. */
  const interrupt = () => server.kill("SIGINT");
  const stop = () => (server.exitCode === null && interrupt(), ended);
  /** An address for one more browser. */
  const another = () => {
    const { port } = new URL(JSON.parse(line).url);
    const asked = ["serve", "--again", "--json", "--port", port];
    return JSON.parse(execFileSync(PROGRAM, asked, { env })).url;
  };
  return { url: JSON.parse(line).url, another, interrupt, ended, stop };
}

/**
 * Runs a test on a page. `files` as in `folderWith`; `prepare` may change the folder; `start: true`
 * opens none; `at` is the place to begin with, by default the list, and "" for none; `command`,
 * `args` and `env` go to the server, and `open` is a file of the folder. Any page error, refused
 * content or foreign request fails the test.
 */
export async function onPage(browser, options, test) {
  const place = folderWith(options.files ?? null);
  options.prepare?.(place.folder);
  const { command, args, env } = options;
  const folder = options.start ? null : join(place.folder, options.open ?? "");
  const server = await serve(place, { command, folder, args, env });
  const context = await browser.newContext({
    viewport: options.viewport ?? { width: 1280, height: 820 },
    colorScheme: "light",
    reducedMotion: "reduce",
  });
  const [wrong, refused] = [[], []];
  try {
    context.setDefaultTimeout(PATIENCE);
    const page = await context.newPage();
    page.on("pageerror", (error) => wrong.push(`error in the page: ${error.message}`));
    page.on(
      "console",
      (message) =>
        message.type() === "error" &&
        !isOutdated(message) &&
        wrong.push(`console: ${message.text()}`),
    );
    page.on(
      "response",
      async (response) =>
        response.status() >= 400 &&
        refused.push(`${response.url()}: ${await response.text().catch(() => "")}`),
    );
    page.on("request", (request) => {
      const { protocol, host } = new URL(request.url());
      if (!["data:", "blob:"].includes(protocol) && host !== new URL(server.url).host)
        wrong.push(`request to ${request.url()}`);
    });
    page.on("popup", () => wrong.push("a new window was opened"));
    const at = server.url.includes("#") ? "" : (options.at ?? (options.start ? "" : "#/runs"));
    await page.goto(server.url + at);
    await test(page, { ...place, ...server });
  } finally {
    await context.close();
    // Stops servers that a failed test left running.
    server.interrupt();
    await server.stop();
    place.remove();
  }
  if (wrong.length > 0 && !options.mayFail) throw new Error([...wrong, ...refused].join("\n"));
}

/** Calls that name the version of a run on screen. */
const VERSIONED = /\/api\/(run_outline|read_steps|read_tree)$/;

/**
 * Tells whether Chromium reports the refusal of an older version: a run that grows while its page
 * reads it. The page then reads the current version; what it shows in the end is up to the test.
 */
const isOutdated = (message) =>
  message.text().includes("status of 410") && VERSIONED.test(message.location().url);

/** Fails with the findings of axe, in words; checks colours in light and in dark. */
export async function accessible(page) {
  // The legacy mode collects results in the page itself; the default opens another page each time.
  const axe = () => new Axe({ page }).setLegacyMode();
  const { violations } = await axe().analyze();
  await page.emulateMedia({ colorScheme: "dark" });
  const { violations: dark } = await axe().withRules(["color-contrast"]).analyze();
  await page.emulateMedia({ colorScheme: "light" });
  found(violations, "in light");
  found(dark, "in dark");
}

function found(violations, where) {
  if (violations.length === 0) return;
  const words = violations.map(
    (one) =>
      `${one.id}: ${one.help}\n${one.nodes.map((node) => `    ${node.html}\n    ${node.failureSummary}`).join("\n")}`,
  );
  throw new Error(`axe finds ${where}:\n${words.join("\n")}`);
}

/** Visible rows of the list. */
export const rows = (page) => page.getByTestId("run-row");

// Puts hostile texts into every field of the page in Chromium: no script runs, no request leaves,
// no link navigates away. TOUCHSTONE_ATTACK_MARKUP sets the number of texts.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createServer } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT, folderWith, openBrowser, serve } from "../browser/stage.mjs";
import { write } from "./payloads.mjs";

const COUNT = Number(process.env.TOUCHSTONE_ATTACK_MARKUP ?? 120);
const FRAMES = () =>
  new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))));

test("no text of a file runs as code, asks anybody or leads away, wherever the page shows it", async () => {
  let asked = 0;
  const sink = createServer((_, reply) => (asked++, reply.end())).listen(0, "127.0.0.1");
  await new Promise((done) => sink.once("listening", done));
  const place = folderWith({});
  const counts = write(place.folder, COUNT, `http://127.0.0.1:${sink.address().port}`);
  const env = {
    ...process.env,
    TOUCHSTONE_CACHE_DIR: join(place.root, "cache"),
    TOUCHSTONE_STATE_DIR: join(place.root, "state"),
  };
  const command = (...args) =>
    execFileSync(join(ROOT, "target/debug/touchstone"), args, {
      cwd: place.folder,
      env,
      encoding: "utf8",
      maxBuffer: 1 << 28,
    });
  const runs = command("list", ".", "--json")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const server = await serve(place);
  const browser = await openBrowser();
  const context = await browser.newContext({
    viewport: { width: 1280, height: 820 },
    reducedMotion: "reduce",
  });
  const page = await context.newPage();
  const [wrong, opened] = [[], []];
  let at = "";
  page.on("dialog", (dialog) => (wrong.push(`${at}: a dialog`), dialog.dismiss()));
  page.on("popup", () => wrong.push(`${at}: a new window`));
  page.on("pageerror", (error) => wrong.push(`${at}: ${error.message}`));
  page.on("download", () => wrong.push(`${at}: a download`));
  page.on("framenavigated", (frame) => frame === page.mainFrame() && opened.push(frame.url()));
  page.on("request", (request) => {
    const { protocol, host } = new URL(request.url());
    if (!["data:", "blob:"].includes(protocol) && host !== new URL(server.url).host)
      wrong.push(`${at}: request to ${request.url()}`);
  });
  await page.addInitScript(() => {
    window.refused = [];
    document.addEventListener("securitypolicyviolation", (event) =>
      window.refused.push(`${event.violatedDirective} ${event.blockedURI}`),
    );
  });
  const SINKS =
    "script:not([src]), iframe:not([title]), object, embed, base, meta[http-equiv], " +
    "img[src^=http], [onerror], [onload], [onclick], a[href^=javascript], a[href^=data], " +
    "a[href^=vbscript], form[action]";
  const look = async (where) => {
    at = where;
    await page.evaluate((hash) => (location.hash = hash), where);
    await page.waitForFunction((hash) => location.hash.startsWith(hash.split("?")[0]), where);
    await page.locator("main, [role=main]").first().waitFor();
    await page.waitForFunction(() => document.querySelector("[aria-busy=true]") === null);
    await page.evaluate(FRAMES);
    const state = await page.evaluate(
      (sinks) => ({
        pwned: window.pwned ?? Object.prototype.pwned ?? null,
        refused: window.refused,
        found: [...document.body.querySelectorAll(sinks)].map((node) =>
          node.outerHTML.slice(0, 200),
        ),
        title: document.title,
      }),
      SINKS,
    );
    if (state.pwned !== null || state.refused.length > 0 || state.found.length > 0)
      wrong.push(`${where}: ${JSON.stringify(state)}`);
    await page.evaluate(() => (window.refused = []));
  };
  try {
    await page.goto(server.url);
    await page.locator("[data-testid=run-row], [data-testid=overview-grid]").first().waitFor();
    const first = page.url().split("#")[0];
    for (const run of runs) {
      await look(`#/run/${run.id}`);
      // Opens folded calls and clicks links like a user.
      await page.keyboard.press("f");
      for (const link of await page.locator("main a:not([href^='#'])").all())
        await link.click({ timeout: 2_000 }).catch(() => undefined);
      await page.keyboard.press("Escape");
      await look(`#/run/${run.id}`);
    }
    for (const where of [
      "overview",
      "runs",
      "tasks",
      "failures",
      "trust",
      "problems",
      "evaluate",
      "launch",
      "settings",
      "report",
    ])
      await look(`#/${where}`);
    const comparable = runs.filter((run) => run.state !== "damaged");
    for (let pair = 0; pair + 1 < Math.min(comparable.length, 110); pair += 2)
      await look(`#/compare?runs=${comparable[pair].id},${comparable[pair + 1].id}`);
    assert.equal(page.url().split("#")[0], first, "the page was left");
    command("report", ".", "--out", join(place.root, "reports"), "--format", "html");
    // Checks that the texts do act on a page that renders them as markup; otherwise this test would
    // prove nothing.
    const bare = await (await browser.newContext()).newPage();
    await bare.setContent("<script>window.pwned=1</script><object></object>");
    assert.deepEqual(
      await bare.evaluate(
        (sinks) => [window.pwned, document.body.querySelectorAll(sinks).length],
        SINKS,
      ),
      [1, 1],
    );
  } finally {
    await browser.close();
    await server.stop();
    sink.close();
    place.remove();
  }
  console.log(
    `figure: page: ${COUNT} texts (${JSON.stringify(counts)}), ${runs.length} runs, ${wrong.length} wrong, ${asked} requests elsewhere`,
  );
  assert.deepEqual([wrong.slice(0, 10), asked], [[], 0]);
});

// Draws the README pictures into docs/pictures: the demo, served, in Chromium at 1440 × 900, light
// and dark.
import { cpSync, mkdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT, openBrowser, rows, serve } from "../tests/browser/stage.mjs";

const PICTURES = join(ROOT, "docs/pictures");

const SHOTS = {
  runs: async (page) => {
    await rows(page).first().waitFor();
  },
  filter: async (page) => {
    await page.getByTestId("filter").fill("system:tool_calling state:error");
    await page.getByTestId("total").waitFor();
  },
  search: async (page) => {
    await page.getByTestId("filter").fill('"tickets"');
    await page.getByTestId("total").waitFor();
    await page.keyboard.press("Enter");
  },
  run: async (page) => {
    await page.getByTestId("filter").fill("system:tool_calling state:answered");
    await page.getByTestId("total").waitFor();
    await rows(page).first().locator("a").first().click();
    await page.waitForFunction(() => location.hash.startsWith("#/run/"));
  },
  overview: async (page) => {
    await goTo(page, "#/overview");
    await page
      .getByRole("grid", { name: /overview|tasks/i })
      .first()
      .waitFor();
  },
  answer: async (page) => {
    await page.getByTestId("filter").fill("class:wrong_answer");
    await page.getByTestId("total").waitFor();
    await rows(page).first().locator("a").first().click();
    await page.waitForFunction(() => location.hash.startsWith("#/run/"));
    await page.evaluate(
      () => (location.hash += `${location.hash.includes("?") ? "&" : "?"}view=answer`),
    );
    await page.getByText("only differences").first().waitFor();
  },
  compare: async (page) => {
    const ids = await page.evaluate(async () => {
      const request = {
        filter: "system:tool_calling state:answered",
        sort: { column: "path", descending: false },
        span: { offset: 0, limit: 2 },
      };
      const reply = await fetch("/api/list_runs", {
        method: "POST",
        headers: { "content-type": "application/json", "x-touchstone": "1" },
        body: JSON.stringify({ request }),
      });
      return (await reply.json()).rows.map((row) => row.id);
    });
    await goTo(page, `#/compare?${ids.map((id) => `run=${id}`).join("&")}`);
    await page.getByText("Differs for good from here").first().waitFor();
  },
  report: async (page) => {
    await goTo(page, "#/report");
    await page.locator("iframe").waitFor();
    await page.frameLocator("iframe").getByRole("heading", { name: "Summary" }).waitFor();
  },
  trust: async (page) => {
    await goTo(page, "#/trust?first=people&second=score");
    await page.getByTestId("confusion").waitFor();
    await page.getByTestId("disagreements").locator("li").first().waitFor();
  },
  palette: async (page) => {
    await page.keyboard.press("Control+k");
    await page.getByTestId("palette").waitFor();
  },
  nudged: async (page) => {
    await page.getByTestId("filter").fill('nudged:yes system:tool_calling "actually use"');
    await page.getByTestId("total").waitFor();
    await rows(page).first().locator("a").first().click();
    await page.waitForFunction(() => location.hash.startsWith("#/run/"));
    await page.getByText("actually use").first().waitFor();
    await page.getByTestId("write").and(page.locator(":enabled")).waitFor();
  },
  evaluate: async (page) => {
    await goTo(page, "#/evaluate?by=f1_score&by=rouge_score&by=meteor_score");
    await page.getByTestId("look").getByText("8 rows · 4 columns").waitFor();
    await page.getByTestId("evaluate-estimate").getByText("No API calls").waitFor();
  },
  // Creates runs from here on, so all pictures of the untouched demo come before.
  launch: async (page) => {
    await goTo(page, "#/launch?system=tool_calling&model=replay");
    await page.getByTestId("run").and(page.locator(":enabled")).waitFor();
    for (const fold of await page.getByTestId("plan").locator("button[aria-expanded=false]").all())
      await fold.click();
  },
  progress: async (page) => {
    await goTo(page, "#/launch?system=tool_calling&model=replay&variation=0");
    await page.getByTestId("plan").getByRole("heading").first().waitFor();
    // The first picture starts the launch; the other shows the same launch.
    const run = page.getByTestId("run").and(page.locator(":enabled"));
    if ((await run.count()) > 0) await run.click();
    else await page.getByRole("link", { name: /so far/ }).click();
    await page.waitForFunction(
      () => document.querySelector("[data-testid=launch-state]")?.textContent === "Done",
    );
    await page.getByTestId("launch-run").last().waitFor();
    // Times and durations change with every drawing, so they are replaced.
    await page.evaluate(() => {
      const times = document.querySelectorAll(
        "[data-testid=summary] h1 + .muted, [data-testid=launch-run] > :last-child",
      );
      for (const time of times) time.style.visibility = "hidden";
    });
  },
};

const goTo = (page, hash) => page.evaluate((to) => (location.hash = to), hash);

mkdirSync(PICTURES, { recursive: true });
const browser = await openBrowser();
// The pictures show the folder's path, so it is short.
const root = join(tmpdir(), "touchstone");
const place = { root, folder: join(root, "demo") };
rmSync(root, { recursive: true, force: true });
cpSync(join(ROOT, "demo"), place.folder, { recursive: true });
const server = await serve(place, { args: ["--allow-run"] });
try {
  for (const [name, go] of Object.entries(SHOTS)) {
    for (const colorScheme of ["light", "dark"]) {
      const context = await browser.newContext({
        viewport: { width: 1440, height: 900 },
        colorScheme,
        reducedMotion: "reduce",
      });
      const page = await context.newPage();
      await page.goto(`${await server.another()}#/runs`);
      await rows(page).first().waitFor();
      await go(page);
      // Grey placeholder bars mean that rows are still loading.
      await page.waitForFunction(() => document.querySelector(".bone, [aria-busy=true]") === null);
      await page.evaluate(
        () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
      );
      const path = join(PICTURES, `${name}-${colorScheme}.png`);
      await page.screenshot({ path });
      console.log(path.slice(ROOT.length));
      await context.close();
    }
  }
} finally {
  await browser.close();
  await server.stop();
  rmSync(root, { recursive: true, force: true });
}

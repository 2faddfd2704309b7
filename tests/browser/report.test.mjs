// The report page, and saved reports read without Touchstone and printed.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { accessible, folderWith, onPage, openBrowser, ROOT, rows } from "./stage.mjs";

let browser;
before(async () => (browser = await openBrowser()));
after(() => browser.close());

/** The HTML report of a folder, as the command line prints it. */
function reportOf(place) {
  const env = {
    ...process.env,
    TOUCHSTONE_CACHE_DIR: join(place.root, "cache"),
    TOUCHSTONE_STATE_DIR: join(place.root, "state"),
  };
  return execFileSync(
    join(ROOT, "target/debug/touchstone"),
    ["report", place.folder, "--format", "html", "--out", "-"],
    { env, encoding: "utf8", maxBuffer: 64 << 20 },
  );
}

const HOSTILE = "<img src=x onerror=alert(1)>";
const answered = (n) =>
  `conversation:\n  - user_message: How many?\n  - assistant_message: "${HOSTILE}"\nanswer: [{ n: ${n} }]\n`;
const files = {
  "tasks/count.yaml":
    "tool_calling_prompt: How many?\nvariations:\n- expected_output: [{ n: 3 }]\n",
  "results/count-tool_calling-o1-variation0.yaml": answered(3),
  "results/count-tool_calling-claude-variation0.yaml": answered(4),
  "results/count-promptql-claude-variation0.yaml": `conversation:\n  - user_message: How many?\n  - error: "${HOSTILE}"\n`,
};

for (const width of [1280, 420])
  test(`a report is chosen, narrowed down, looked at and kept (${width} wide)`, () =>
    onPage(browser, { files, viewport: { width, height: 820 } }, async (page) => {
      await rows(page).first().waitFor();
      await page.evaluate(() => (location.hash = "#/report"));
      const form = page.getByRole("form", { name: "Report settings" });
      const preview = page.getByRole("region", { name: "Preview" });
      await form.getByText(/^3 runs, /).waitFor();
      assert.equal(
        await preview.locator("iframe").getAttribute("sandbox"),
        "",
        "the page has no right at all",
      );
      await form.getByLabel("Markdown", { exact: true }).check();
      await preview.getByText("Scored by fields (version").waitFor();
      await accessible(page);
      await form.getByLabel("Title").fill(HOSTILE);
      const filter = form.getByLabel("Runs", { exact: true });
      await filter.fill("system:tool_calling");
      const [kept] = await Promise.all([page.waitForEvent("download"), filter.press("Enter")]);
      const text = readFileSync(await kept.path(), "utf8");
      assert.ok(text.includes("2 runs of 1 task") && !text.includes("promptql"), text);
      assert.ok(text.startsWith("# &lt;img") && !text.includes("<img"), text);
      await form.getByText(/ is in your downloads\.$/).waitFor();
      await filter.fill("model:nobody");
      await page.getByRole("heading", { name: "No matching runs" }).waitFor();
      await accessible(page);
      await page.getByRole("button", { name: "Clear the filter" }).click();
      await form.getByText(/^3 runs, /).waitFor();
      await form.getByLabel("JUnit", { exact: true }).check();
      await preview.getByText("<testsuites").waitFor();
      assert.equal(await page.locator("img").count(), 0);
    }));

test("axe finds no fault in a report, wide and narrow", async () => {
  const place = folderWith();
  try {
    const html = reportOf(place);
    for (const width of [1200, 400]) {
      const context = await browser.newContext({ viewport: { width, height: 900 } });
      const page = await context.newPage();
      await page.setContent(html);
      await page.evaluate(() =>
        document.querySelectorAll("details").forEach((one) => (one.open = true)),
      );
      await accessible(page);
      await context.close();
    }
  } finally {
    place.remove();
  }
});

test("what is folded on a screen is there in print", async () => {
  const place = folderWith();
  try {
    const html = reportOf(place);
    const page = await browser.newPage();
    await page.setContent(html);
    const folded = page.locator("details:not([open]) td").first();
    const height = () =>
      folded.evaluate((cell) =>
        cell.checkVisibility({ contentVisibilityAuto: true })
          ? cell.getBoundingClientRect().height
          : 0,
      );
    assert.equal(await height(), 0);
    await page.emulateMedia({ media: "print" });
    assert.ok((await height()) > 0);
    await page.close();
  } finally {
    place.remove();
  }
});

// History: trends over sets with a change point, what changed between two sets, and the baseline,
// by keys and by links, light and dark, narrow and wide, and the state without sets.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { utimesSync } from "node:fs";
import { join } from "node:path";
import { accessible, onPage, openBrowser, rows } from "./stage.mjs";

let browser;
before(async () => (browser = await openBrowser()));
after(() => browser.close());

const TASKS = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
const run = (right) =>
  `conversation:\n  - user_message: How many?\n  - assistant_message: Here.\nanswer: ${right ? 7 : 8}\n`;
const DAYS = ["2026-03-01", "2026-03-02", "2026-03-03"];
const path = (task, day) =>
  `results/${task}-tool_calling-o1-variation0${day === 0 ? "" : `-run${day + 1}`}.yaml`;
/** Ten tasks on consecutive days, of which this many are right. */
function days(right, args) {
  const files = { "touchstone.yaml": "input_dir: tasks\noutput_dir: results\n" };
  for (const task of TASKS)
    files[`tasks/${task}.yaml`] = "tool_calling_prompt: How many?\nexpected_output: 7\n";
  right.forEach((many, day) =>
    TASKS.forEach((task, at) => (files[path(task, day)] = run(at < many))),
  );
  const prepare = (folder) =>
    right.forEach((_, day) => {
      const noon = new Date(`${DAYS[day]}T12:00:00Z`);
      for (const task of TASKS) utimesSync(join(folder, path(task, day)), noon, noon);
    });
  return { files, prepare, args };
}
const flat = async (locator) => (await locator.innerText()).replace(/\s+/g, " ").trim();
const shoot = (page, as) =>
  process.env.TOUCHSTONE_SHOTS
    ? page.screenshot({ path: `${process.env.TOUCHSTONE_SHOTS}/${as}.png` })
    : undefined;
async function open(page) {
  await rows(page).first().waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("y");
  await page.getByTestId("history").waitFor();
}

test("a drop is a change point, and each changed task leads to its runs", () =>
  onPage(
    browser,
    { ...days([10, 9, 1]), viewport: { width: 1400, height: 1000 } },
    async (page) => {
      await open(page);
      const numbers = page.getByTestId("trend-table");
      await numbers.getByText("Change point").waitFor();
      assert.match(await flat(numbers), /2026-03-03 .*▼ Change point, worse: −0\.85/);
      assert.equal(await page.getByTestId("change-point").count(), 1);
      assert.match(
        await flat(page.getByTestId("changes-groups")),
        /tool_calling\/o1 8 0 0 0 worse/,
      );
      await accessible(page);
      await shoot(page, "history-light");
      await page.emulateMedia({ colorScheme: "dark" });
      await shoot(page, "history-dark");
      await page.emulateMedia({ colorScheme: "light" });
      await page.setViewportSize({ width: 900, height: 900 });
      await accessible(page);
      await shoot(page, "history-narrow");
      await page.setViewportSize({ width: 2560, height: 1400 });
      await shoot(page, "history-wide");
      // The latest changes are those since the set before; since the first there is one more.
      await page.getByTestId("history-before").selectOption("2026-03-01");
      await page.getByText("2026-03-03 (10 runs), compared with 2026-03-01 (10 runs).").waitFor();
      assert.equal(await page.getByTestId("changed-task").count(), 9);
      await page.getByTestId("changed-task").first().getByRole("link", { name: "Compare" }).click();
      await page.waitForFunction(() => /^#\/compare\?run=[0-9a-f]+&run=/.test(location.hash));
      await page.goBack();
      await numbers.getByRole("link", { name: "2026-03-02" }).click();
      await page.waitForFunction(() => location.hash.startsWith("#/runs?q="));
      await page.waitForFunction(
        () => document.querySelector("[role=grid]")?.getAttribute("aria-rowcount") === "11",
      );
    },
  ));

test("sets are commits or tags, and a report has their trend", () => {
  const at = (commit) => `${run(true)}run: { commit: ${commit}, tags: [smoke] }\n`;
  const files = {
    "tasks/a.yaml": "tool_calling_prompt: How many?\nexpected_output: 7\n",
    [path("a", 0)]: at("0123456789ab"),
    [path("a", 1)]: at("4f1c2d9a7b30-dirty"),
  };
  return onPage(browser, { files, viewport: { width: 900, height: 900 } }, async (page) => {
    await open(page);
    await page.getByTestId("history-by").selectOption("commit");
    const numbers = page.getByTestId("trend-table");
    await numbers.getByText("4f1c2d9a7b30-dirty").first().waitFor();
    await accessible(page);
    await page.getByTestId("history-by").selectOption("tag");
    await numbers.getByText("smoke").first().waitFor();
    await page.evaluate(() => (location.hash = "#/report?format=markdown"));
    const preview = page.getByRole("region", { name: "Preview" });
    await page.getByTestId("report-sets").selectOption("commit");
    await preview.getByText("2 sets of runs, one for each commit").waitFor();
    await accessible(page);
    await page.evaluate(() => (location.hash = "#/report?sets=commit"));
    const report = page.frameLocator("iframe");
    await report.getByRole("heading", { name: "Trend" }).waitFor();
    await page.getByRole("button", { name: "Trend" }).waitFor();
    await shoot(page, "report-trend");
  });
});

test("a baseline is saved, compared with, and replaced only after a question", () =>
  onPage(browser, days([10, 10], ["--allow-run"]), async (page) => {
    await open(page);
    const baseline = page.getByTestId("baseline");
    await baseline.getByText("There is no baseline file.").waitFor();
    await page.getByTestId("save-baseline").click();
    await baseline.getByText("✓ Gate passed.").waitFor();
    await accessible(page);
    await page.getByTestId("save-baseline").click();
    await baseline.getByText("Its thresholds stay").waitFor();
    await baseline.getByRole("button", { name: "Keep it" }).click();
    await page.getByTestId("history-before").selectOption({ label: "the baseline file" });
    await page.getByText("compared with touchstone-baseline.json (20 runs).").waitFor();
  }));

test("where no run lies in a folder, it says how runs get into sets", () =>
  onPage(browser, {}, async (page) => {
    await open(page);
    await page.getByTestId("history-by").selectOption("folder");
    await page.getByRole("heading", { name: "No run is in a set" }).waitFor();
    await accessible(page);
    await page.getByRole("button", { name: "Sets by day" }).click();
    await page.getByTestId("trend-row").first().waitFor();
  }));

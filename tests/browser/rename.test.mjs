// Correcting the names of a run that another tool recorded.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { accessible, onPage, openBrowser, ROOT, rows } from "./stage.mjs";

let browser;
before(async () => (browser = await openBrowser()));
after(() => browser.close());

const FIXTURE = join(ROOT, "src-tauri/imports/tests/fixtures/promptfoo/results.json");

/** A result of promptfoo for a prompt, which is its system, with an id of its own. */
function result(prompt, id) {
  const whole = JSON.parse(readFileSync(FIXTURE, "utf8"));
  const [one] = whole.results.results;
  one.id = id;
  one.prompt.label = prompt;
  return JSON.stringify({ ...whole, evalId: id });
}

const WORKSPACE = "# Where results lie.\noutput_dir: results # below this file\n";
const files = {
  "touchstone.yaml": WORKSPACE,
  "results/a.json": result("react", "r1"),
  "results/b.json": result("mine", "r2"),
};

/** Opens the only run that matches a filter. */
async function openRun(page, filter) {
  await page.getByTestId("filter").fill(filter);
  await page.waitForFunction(() => document.querySelectorAll("[data-testid=run-row]").length === 1);
  await rows(page).first().locator("a").first().click();
  await page.getByRole("button", { name: "Rename…" }).waitFor();
}

test("a run of another tool merges with others under a new name, and gets the name of its file back", () =>
  onPage(
    browser,
    { files, args: ["--allow-run"], viewport: { width: 1440, height: 900 } },
    async (page, { folder }) => {
      const workspace = () => readFileSync(join(folder, "touchstone.yaml"), "utf8");
      await openRun(page, "system:react");
      await page.getByRole("button", { name: "Rename…" }).click();
      const dialog = page.getByTestId("rename");
      const system = dialog.locator("[name=system]");
      assert.equal(await system.inputValue(), "react");
      await system.fill("mine");
      await dialog.getByText("Merges with 1 run").waitFor();
      await dialog.getByText("In the file: react").waitFor();
      await accessible(page);
      await dialog.getByRole("button", { name: "Save" }).click();
      await dialog.waitFor({ state: "detached" });
      assert.equal(workspace(), `${WORKSPACE}imports:\n  systems:\n    "react": "mine"\n`);

      // The page follows the change, and still shows the name in the file.
      const details = page.locator("#run-side");
      await details.getByText("system in the file").waitFor();
      await details.getByText("react", { exact: true }).waitFor();
      await page.goBack();
      await page.getByTestId("filter").fill("system:mine");
      await rows(page).nth(1).waitFor();

      // Both are repeats of one cell now.
      await openRun(page, "system:mine repeat:1");
      await page.setViewportSize({ width: 900, height: 700 });
      // The page hides the details only after it was told of the narrower window.
      await details.waitFor({ state: "hidden" });
      await page.getByRole("button", { name: "details" }).click();
      await page.getByRole("button", { name: "Rename…" }).click();
      const { x, width } = await dialog.boundingBox();
      assert.ok(x >= 0 && x + width <= 900, "the dialog fits into a narrow window");
      await system.fill("");
      await dialog.getByRole("button", { name: "Save" }).click();
      await dialog.waitFor({ state: "detached" });
      assert.equal(workspace(), WORKSPACE);
      await details.getByText("system in the file").waitFor({ state: "detached" });
    },
  ));

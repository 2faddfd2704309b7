// Results of a red team scan in the window: the scorecard, and texts that stay folded.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { accessible, onPage, openBrowser, ROOT, rows } from "./stage.mjs";

let browser;
before(async () => (browser = await openBrowser()));
after(() => browser.close());

const fixture = "src-tauri/imports/tests/fixtures/azure_redteam/final_results.json";
const files = { "results/final_results.json": readFileSync(join(ROOT, fixture), "utf8") };

test("a scan shows its scorecard, and its texts after a press", () =>
  onPage(browser, { files, viewport: { width: 1280, height: 820 } }, async (page) => {
    await page.evaluate(() => (location.hash = "#/overview"));
    const attacks = page.getByTestId("attacks");
    await attacks.locator("summary").click();
    assert.match(
      await attacks.locator("summary").innerText(),
      /2 of 7 judged succeeded; 1 not judged/,
    );
    await accessible(page);
    await page.evaluate(() => (location.hash = "#/runs"));
    await rows(page).first().dblclick();
    const cover = page.getByTestId("sensitive");
    await cover.waitFor();
    assert.equal(await page.getByTestId("step").count(), 0);
    await accessible(page);
    await page.keyboard.press("Enter");
    await page.getByTestId("step").first().waitFor();
    assert.equal(await cover.count(), 0);
  }));

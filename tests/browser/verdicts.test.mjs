// Imported verdicts: columns of evaluators in Runs where there is room, and their means in Overview.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { accessible, onPage, openBrowser, ROOT, rows } from "./stage.mjs";

let browser;
before(async () => (browser = await openBrowser()));
after(() => browser.close());

const stored = (name) =>
  readFileSync(join(ROOT, "tests/fixtures/azure/rows", `${name}.json`), "utf8");
const files = {
  "pier_small.json": stored("pier_small"),
  "pier_large.json": stored("pier_large"),
  "a.yaml": "conversation:\n  - user_message: How many?\n  - assistant_message: '7'\nanswer: 7\n",
};
const shoot = (page, as) =>
  process.env.TOUCHSTONE_SHOTS
    ? page.screenshot({ path: `${process.env.TOUCHSTONE_SHOTS}/${as}.png` })
    : undefined;

test("evaluators have columns where there is room, and means with intervals", () =>
  onPage(browser, { files, viewport: { width: 1440, height: 900 } }, async (page) => {
    await rows(page).first().waitFor();
    const heads = page.getByRole("columnheader");
    await heads.filter({ hasText: "relevance" }).waitFor();
    const said = await page
      .locator('[data-testid=run-row] [data-column="verdict:f1"]')
      .allInnerTexts();
    // Six rows of evaluations, and a run of which no evaluator said anything.
    assert.equal(said.filter((text) => text === "").length, 1);
    assert.equal(said.filter((text) => /^[\d.]+ [✓✗]$/.test(text)).length, 6, said.join());
    // An empty cell is as high as its line, so that its text has its place when a file brings it.
    const heights = await page
      .locator("[data-testid=run-row] [data-column]")
      .evaluateAll((cells) => cells.map((cell) => Math.round(cell.getBoundingClientRect().height)));
    assert.equal(new Set(heights).size, 1, [...new Set(heights)].join());
    await accessible(page);
    await shoot(page, "verdicts-runs");
    await page.setViewportSize({ width: 900, height: 800 });
    await heads.filter({ hasText: "relevance" }).waitFor({ state: "detached" });
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.getByRole("navigation").getByRole("link", { name: "Overview" }).click();
    const means = page.getByTestId("evaluators");
    // Nothing has a score, so they are the result.
    assert.equal(await means.getAttribute("open"), "");
    assert.equal(await page.getByTestId("evaluator-row").count(), 4);
    await accessible(page);
    await shoot(page, "verdicts-overview");
  }));

// Rows of an evaluation that somebody else made: what was asked and answered, and what was said of it.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { ROOT, accessible, onPage, openBrowser, rows } from "./stage.mjs";

let browser;
before(async () => (browser = await openBrowser()));
after(() => browser.close());

const fixture = (name) => readFileSync(join(ROOT, "tests/fixtures/azure/rows", name), "utf8");
const FILES = { "results/pier_small.json": fixture("pier_small.json"), "results/berths.json": fixture("berths.json"), "results/kept.json": fixture("kept.json") };

test("a row shows its query, its response, its calls and what was stored of it", () =>
  onPage(browser, { files: FILES }, async (page) => {
    await rows(page).first().waitFor();
    assert.equal(await rows(page).count(), 8);
    await page.evaluate(() => (location.hash = "#/runs?q=path:pier_small.json#row-2"));
    const open = async (name) => {
      await rows(page).filter({ hasText: name }).first().click();
      await page.keyboard.press("Enter");
    };
    await open("row-2");
    const transcript = page.getByTestId("transcript");
    await transcript.getByText("How long is the harbour wall?").waitFor();
    await transcript.getByText("I cannot say.").first().waitFor();
    await page.getByText("Stored results: f1 fail 0.0, relevance fail 1.0.").waitFor();
    const stored = page.getByTestId("stored");
    const said = stored.locator("details").filter({ hasText: "relevance" });
    await said.getByText("does not pass · threshold 3.0").waitFor();
    await said.locator("summary").click();
    await said.getByText("It does not answer.").waitFor();
    assert.equal(await stored.getByText("as it came").count(), 0, "nobody knows what models said");
    await accessible(page);
    await page.evaluate(() => (location.hash = "#/runs?q=system:berths"));
    await open("berth");
    await transcript.getByText("free_berths").first().waitFor();
    await transcript.getByText("Berth 7 is free.").first().waitFor();
    await page.evaluate(() => (location.hash = "#/runs?q=path:kept.json%23row-2"));
    await open("row-2");
    const failed = stored.locator("details").filter({ hasText: "tone" });
    await failed.getByText("evaluator failed", { exact: true }).waitFor();
    await failed.locator("summary").click();
    await failed.getByText("No result, which says nothing of the answer.").waitFor();
    await failed.getByText("The reply of the judge could not be read.").waitFor();
    await accessible(page);
  }));

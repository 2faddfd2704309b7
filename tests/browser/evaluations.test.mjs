// Rows of an imported evaluation: questions, answers and verdicts.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { ROOT, accessible, onPage, openBrowser, rows } from "./stage.mjs";

let browser;
before(async () => (browser = await openBrowser()));
after(() => browser.close());

const fixture = (name) => readFileSync(join(ROOT, "tests/fixtures/azure/rows", name), "utf8");
const FILES = {
  "results/pier_small.json": fixture("pier_small.json"),
  "results/berths.json": fixture("berths.json"),
  "results/kept.json": fixture("kept.json"),
};

test("a row shows its query, its response, its calls and what was stored of it", () =>
  onPage(browser, { files: FILES }, async (page) => {
    await rows(page).first().waitFor();
    assert.equal(await rows(page).count(), 8);
    await page.evaluate(() => (location.hash = "#/runs?q=path:pier_small.json#row-2"));
    const open = async (name, among = 1) => {
      // The list of the filter before may still be shown, with a row of the same name.
      await page.waitForFunction(
        (count) => document.querySelectorAll("[data-testid=run-row]").length === count,
        among,
      );
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
    // The reason of one that fails is open.
    await said.getByText("It does not answer.").waitFor();
    assert.equal(await stored.getByText("as received").count(), 0, "nobody knows what models said");
    await accessible(page);
    await page.evaluate(() => (location.hash = "#/runs?q=system:berths"));
    await open("berth", 2);
    await transcript.getByText("free_berths").first().waitFor();
    await transcript.getByText("Berth 7 is free.").first().waitFor();
    await page.evaluate(() => (location.hash = "#/runs?q=path:kept.json%23row-2"));
    await open("row-2");
    const failed = stored.locator("details").filter({ hasText: "tone" });
    await failed.getByText("evaluator failed", { exact: true }).waitFor();
    await failed.locator("summary").click();
    await failed.getByText("No result for this answer.").waitFor();
    await failed.getByText("The reply of the judge could not be read.").waitFor();
    await accessible(page);
  }));

test(`what is stored of rows is asked for, compared and held against people`, () => {
  const files = {
    "touchstone.yaml": "output_dir: results\n",
    "results/pier_small.json": fixture("pier_small.json"),
    "results/pier_large.json": fixture("pier_large.json"),
    "results/.touchstone/reviews/pier_small.json/row-2.yaml": "verdict: right\nnote: I say so.\n",
  };
  return onPage(browser, { files, viewport: { width: 1280, height: 800 } }, async (page) => {
    await rows(page).first().waitFor();
    const filter = page.getByTestId("filter");
    await filter.fill("stored:relev");
    await page.getByRole("option", { name: /relevance=fail/ }).click();
    await page.waitForFunction(
      () => document.querySelectorAll("[data-testid=run-row]").length === 2,
    );
    assert.equal((await filter.inputValue()).trim(), "stored:relevance=fail");
    await page.locator("#runs-grid").focus();
    for (const key of ["x", "j", "x", "c"]) await page.keyboard.press(key);
    const stored = page.getByTestId("compared-stored");
    await stored.locator("tbody tr").nth(1).waitFor();
    const lines = await stored.locator("tbody tr").allInnerTexts();
    assert.deepEqual(
      lines.map((line) => line.replace(/\s+/g, " ").trim()),
      ["f1 0.0 does not pass 0.0 does not pass", "relevance 1.0 does not pass 1.0 does not pass"],
    );
    await accessible(page);
    await page.getByRole("navigation").getByRole("link", { name: "Trust" }).click();
    // One reviewed run is too small a sample, so the other pairs start folded.
    await page.getByRole("button", { name: "2 more pairs with too few runs" }).click();
    await page
      .getByTestId("trust-pairs")
      .getByRole("link", { name: "people and stored: relevance" })
      .click();
    await page.getByTestId("disagreements").getByText("It does not answer.").waitFor();
    assert.match(
      await page.getByTestId("trust-raters").innerText(),
      /stored: relevance\s+5\s+1\s+–/,
    );
    await accessible(page);
    await page.evaluate(() => (location.hash = "#/report"));
    const sheet = page.frameLocator("iframe");
    await sheet.getByRole("heading", { name: "Stored verdicts" }).waitFor();
    // A sandboxed frame cannot be queried, so the report is checked separately.
    await page
      .getByRole("form", { name: "Report settings" })
      .getByLabel("Markdown", { exact: true })
      .check();
    await page.getByRole("region", { name: "Preview" }).getByText("## Stored verdicts").waitFor();
    await accessible(page);
  });
});

test("where no run has a score, an evaluator ranks the systems and says why runs fail", () => {
  const files = {
    "results/pier_small.json": fixture("pier_small.json"),
    "results/pier_large.json": fixture("pier_large.json"),
  };
  return onPage(browser, { files, at: "#/overview" }, async (page) => {
    const headline = page.getByTestId("headline");
    await headline.getByText("By f1: ").waitFor();
    await page.getByTestId("evaluators").getByRole("link", { name: "relevance" }).first().click();
    await headline.getByText(/By relevance: pier_large/).waitFor();
    await page.getByTestId("overview-grid").getByText("All tasks").waitFor();
    await accessible(page);
    await headline.getByRole("link", { name: /Wrong answer according to relevance/ }).click();
    await page.getByTestId("failures").getByText("It does not answer.").first().waitFor();
    const scorer = page.getByTestId("failures-scorer");
    assert.equal(await scorer.inputValue(), "verdict:relevance");
    await accessible(page);
  });
});

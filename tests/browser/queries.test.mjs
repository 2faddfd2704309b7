// Query sets on the page: runs scored by the APIs they called, published results beside them, and
// the result file of a system.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { accessible, onPage, openBrowser, rows } from "./stage.mjs";

let browser;
before(async () => (browser = await openBrowser()));
after(() => browser.close());

const api = (name) => ({
  category_name: "Sky",
  tool_name: "Sky_v2",
  api_name: name,
  api_description: "All",
  required_parameters: [],
  optional_parameters: [],
  method: "GET",
});
const QUERY = JSON.stringify([
  {
    query_id: 588,
    query: "Which stars and moons are there?",
    api_list: [api("Stars"), api("Moons")],
    "relevant APIs": [
      ["Sky_v2", "Stars"],
      ["Sky_v2", "Moons"],
    ],
  },
]);
const call = (name) => `- tool_call: {name: ${name}, params: {}, result: ok}\n`;
const run = (calls, answer) =>
  `conversation:\n- user_message: Which?\n${calls.map(call).join("")}- assistant_message: Done.\n${answer === null ? "" : `answer: ${answer}\n`}`;
const name = (model) => `results/G1_instruction/588-tool_calling-${model}-variation0.yaml`;
const FILES = {
  "tasks/G1_instruction.json": QUERY,
  [name("o1")]: run(
    ["stars_for_sky_v2", "moons_for_sky_v2", "Finish"],
    "Two stars and one moon can be seen.",
  ),
  [name("claude")]: run(["stars_for_sky_v2", "weather"], null),
};
const flat = async (locator) => (await locator.innerText()).replace(/\s+/g, " ").trim();
const go = (page, hash) => page.evaluate((to) => (location.hash = to), hash);

for (const width of [1400, 800])
  test(`what others published stands beside one's own runs when it is asked for (${width} wide)`, () =>
    onPage(browser, { files: FILES, viewport: { width, height: 820 } }, async (page) => {
      await rows(page).first().waitFor();
      await go(page, "#/overview");
      const panel = page.getByTestId("published");
      await panel.locator("summary").click();
      const own = page.getByTestId("query-summaries");
      assert.match(
        await flat(own),
        /tool_calling\/claude 1 1 0 0\.50 0 of 1, 0\.0 % \(\S+\) – – – 0/,
      );
      assert.match(await flat(own), /tool_calling\/o1 1 1 0 1\.00 1 of 1, 100\.0 %/);
      const published = page.getByTestId("published-rows");
      assert.equal(await published.locator("tbody tr").count(), 16);
      assert.match(
        await flat(published),
        /GPT 4o mini CoT MirrorAPI-Cache Based System 27\.8 ± 1\.4 .* 25\.9 ± 1\.7 27\.42 differs from print 28\.69 gpt-4o/,
      );
      assert.match(await flat(panel), /No run is judged, so there are no own results/);
      await accessible(page);
      await panel.getByLabel("Earlier and hidden rows").check();
      assert.equal(await published.locator("tbody tr").count(), 36);
      await panel.getByLabel("FAC").check();
      assert.equal(await published.locator("tbody tr").count(), 6);
      await panel.getByLabel("SoWR").check();
      await panel.getByLabel("Judge").selectOption("gpt-4-turbo-2024-04-09");
      assert.equal(await published.locator("tbody tr").count(), 9);
      assert.match(await flat(published), /against GPT-3\.5-Turbo-0613 \(CoT\)/);
    }));

test("folders without query sets say nothing of published results", () =>
  onPage(browser, {}, async (page) => {
    await rows(page).first().waitFor();
    await go(page, "#/overview");
    await page.getByTestId("overview-row").first().waitFor();
    assert.equal(await page.getByTestId("published").count(), 0);
  }));

test("the result file is seen as it will be written, one system at a time, and leaves out what nobody said", () =>
  onPage(browser, { files: FILES }, async (page) => {
    await rows(page).first().waitFor();
    await go(page, "#/report");
    await page.getByLabel("StableToolBench").check();
    const text = page.getByLabel("Report contents");
    await text.getByText('"framework"').waitFor();
    assert.match(await flat(text), /"framework": "tool_calling-claude"/);
    assert.doesNotMatch(await flat(text), /sopr_score"?: 0/);
    await page.getByText(/Without a SoPR score: 1 of 1/).waitFor();
    await page.getByLabel("Which file").selectOption("tool_calling/o1/G1_instruction");
    await text.getByText('"tool_calling-o1"').waitFor();
    await page.getByLabel("Solved according to").selectOption("seed_heuristic");
    await text.getByText('"heuristic"').first().waitFor();
    await accessible(page);
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download" }).click();
    assert.equal(
      (await download).suggestedFilename(),
      "tool_calling-o1_1queries_G1_instruction.json",
    );
  }));

// The list of runs: rows, filtering, keys, address and new files.
import assert from "node:assert/strict";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { accessible, onPage, openBrowser, rows } from "./stage.mjs";

let browser;
before(async () => (browser = await openBrowser()));
after(() => browser.close());

const said = (text) => `conversation:\n  - user_message: ${text}\n  - assistant_message: done\n`;
const FILES = {
  "results/apples-tool_calling-o1-variation0.yaml": said("count the apples"),
  "results/apples-tool_calling-claude-variation0.yaml":
    "conversation:\n  - user_message: count the apples\n  - error: no credit\n",
  "results/pears-promptql-o3-mini-variation1.yaml": "output: [unclosed\n",
  "tasks/apples.yaml": "tool_calling_prompt: count the apples\n",
};
const filter = (page) => page.getByTestId("filter");
const waitForRows = (page, count) =>
  page.waitForFunction(
    (wanted) => document.querySelectorAll("[data-testid=run-row]").length === wanted,
    count,
  );

test(`the runs of the demo are listed and accessible`, () =>
  onPage(browser, {}, async (page) => {
    await rows(page).first().waitFor();
    assert.ok((await rows(page).count()) > 15);
    assert.match(await page.getByTestId("status").innerText(), /runs/);
    await accessible(page);
  }));

test("an invalid filter leaves the rows of before where they are and says why at the filter box, and a valid one lists again", () =>
  onPage(browser, {}, async (page) => {
    await rows(page).first().waitFor();
    const top = () =>
      page.locator("#runs-grid").evaluate((grid) => grid.getBoundingClientRect().top);
    const before = await top();
    for (const [typed, why] of [
      ["review:none", 'Unknown review "none". Did you mean no?'],
      ["-state:eror", 'Unknown state "eror". Did you mean error?'],
      ["scroe<0.5", 'Unknown key "scroe". Did you mean score<0.5?'],
    ]) {
      await filter(page).fill(typed);
      await page.getByTestId("filter-misread").getByText(why).waitFor();
      await page.locator('[data-testid="runs-table"][aria-busy="true"]').waitFor();
      assert.equal(await top(), before);
      assert.notEqual(await rows(page).count(), 0);
      assert.equal(await page.getByText("No matching runs").count(), 0);
      assert.equal(await filter(page).getAttribute("aria-invalid"), "true");
    }
    await accessible(page);
    await filter(page).fill("score<0.5");
    await page.getByTestId("filter-misread").waitFor({ state: "detached" });
    await rows(page).first().waitFor();
    await filter(page).fill("claude");
    await page.getByRole("option", { name: "model:claude", selected: true }).waitFor();
    await filter(page).press("Enter");
    await page.waitForFunction(() => location.hash.includes("model%3Aclaude"));
  }));

for (const width of [900, 1280])
  test(`state and score of runs are in sight ${width} wide, and the filter has room while it is written`, () =>
    onPage(browser, { viewport: { width, height: 700 } }, async (page) => {
      await rows(page).first().waitFor();
      for (const size of [13, 18]) {
        await page.evaluate(
          (textSize) => localStorage.setItem("touchstone.look", JSON.stringify({ textSize })),
          size,
        );
        await page.reload();
        await rows(page).first().waitFor();
        for (const column of ["state", "score"]) {
          const cell = await rows(page).first().locator(`[data-column=${column}]`).boundingBox();
          assert.ok(cell.x >= 0 && cell.x + cell.width <= width, `${column} at ${size} px`);
        }
      }
      const field = page.getByTestId("filter");
      await field.focus();
      assert.ok((await field.boundingBox()).width >= 400);
    }));

test("typing narrows the list, and the address keeps the filter over a reload", () =>
  onPage(browser, { files: FILES }, async (page) => {
    await waitForRows(page, 3);
    await filter(page).fill("state:error");
    await waitForRows(page, 1);
    assert.match(await rows(page).first().innerText(), /apples/);
    assert.match(new URL(page.url()).hash, /q=state%3Aerror/);
    await page.reload();
    await waitForRows(page, 1);
    assert.equal(await filter(page).inputValue(), "state:error");
    await filter(page).fill("count");
    await waitForRows(page, 2);
    await filter(page).fill("nothing has this");
    await waitForRows(page, 0);
    await accessible(page);
  }));

test("a run opens by keys and Escape goes back to the same list", () =>
  onPage(browser, { files: FILES }, async (page) => {
    await waitForRows(page, 3);
    await page.keyboard.press("/");
    assert.equal(await page.evaluate(() => document.activeElement.dataset.testid), "filter");
    await page.keyboard.type("count");
    await waitForRows(page, 2);
    await page.keyboard.press("Enter");
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => location.hash.startsWith("#/run/"));
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => location.hash.startsWith("#/runs"));
    await waitForRows(page, 2);
    assert.equal(await filter(page).inputValue(), "count");
  }));

test("files that come, change and go are followed without a reload", () =>
  onPage(browser, { files: FILES }, async (page, { folder, root }) => {
    await waitForRows(page, 3);
    const beside = join(root, "beside");
    const place = join(folder, "results/plums-tool_calling-o1-variation0.yaml");
    writeFileSync(beside, said("count the plums"));
    renameSync(beside, place);
    await waitForRows(page, 4);
    writeFileSync(
      beside,
      "conversation:\n  - user_message: count the plums\n  - error: no credit\n",
    );
    renameSync(beside, place);
    await page.waitForFunction(() =>
      [...document.querySelectorAll("[data-testid=run-row]")].some(
        (row) => row.innerText.includes("plums") && row.innerText.includes("no credit"),
      ),
    );
    rmSync(place);
    await waitForRows(page, 3);
  }));

test("what cannot be read is listed with its reason, and the problems say where", () =>
  onPage(browser, { files: FILES }, async (page) => {
    await waitForRows(page, 3);
    await filter(page).fill("state:damaged");
    await waitForRows(page, 1);
    await page.evaluate(() => (location.hash = "#/problems"));
    await page.getByText("pears-promptql-o3-mini-variation1.yaml").first().waitFor();
    await accessible(page);
  }));

test("when the server ends the page says so and keeps what it shows", () =>
  onPage(browser, { files: FILES, mayFail: true }, async (page, { stop }) => {
    await waitForRows(page, 3);
    await stop();
    await page.getByText("not connected").waitFor();
    assert.equal(await rows(page).count(), 3);
  }));

test("a part of the answer, a fact and a score become columns, which a view keeps", () => {
  const answered = (answer) => `${said("count")}answer: ${answer}\n`;
  const files = {
    "tasks/apples.yaml": "tool_calling_prompt: count\nexpected_output: { n: 1 }\n",
    "results/apples-tool_calling-o1-variation0.yaml": `${answered("{ items: [{ id: 0 }] }")}run: { version: 1.2.0 }\n`,
    "results/apples-tool_calling-o1-variation0-run2.yaml": answered("{ items: [] }"),
  };
  return onPage(browser, { files, viewport: { width: 1440, height: 800 } }, async (page) => {
    await rows(page).nth(1).waitFor();
    const add = async (column) => {
      await page.keyboard.press("Control+k");
      await page.keyboard.type("Add a column");
      await page.keyboard.press("Enter");
      const dialog = page.getByTestId("add-column");
      await dialog.getByLabel("Column").fill(column);
      await dialog.getByText("In the first run:").waitFor();
      await accessible(page);
      await page.keyboard.press("Enter");
      await dialog.waitFor({ state: "detached" });
    };
    await add("answer.items[0].id");
    await add("fact:run.version");
    const cells = (column) => page.locator(`[data-column="${column}"][role=gridcell]`);
    await page.waitForFunction(
      () =>
        document.querySelector('[data-column="fact:run.version"][role=gridcell]')?.innerText !==
        "…",
    );
    const texts = async (column) =>
      (await cells(column).allInnerTexts()).map((text) => text.trim());
    assert.deepEqual((await texts("answer.items[0].id")).sort(), ["0", "–"]);
    assert.deepEqual((await texts("fact:run.version")).sort(), ["1.2.0", "–"]);
    await accessible(page);
    if (process.env.TOUCHSTONE_SHOTS)
      await page.screenshot({ path: `${process.env.TOUCHSTONE_SHOTS}/own-columns.png` });
    // Sorted by a click on its head, then by the keyboard: a missing value is last in both orders.
    const head = page.getByRole("columnheader", { name: "answer.items[0].id" });
    const isOrdered = (direction) =>
      page.waitForFunction((wanted) => {
        const heads = [...document.querySelectorAll("[role=columnheader]")];
        const own = heads.find((one) => one.innerText.includes("answer.items[0].id"));
        const cells = '[data-column="answer.items[0].id"][role=gridcell]';
        const shown = [...document.querySelectorAll(cells)].map((one) => one.innerText.trim());
        return own?.getAttribute("aria-sort") === wanted && shown.join(" ") === "0 –";
      }, direction);
    await head.getByRole("button").click();
    await isOrdered("ascending");
    await head.getByRole("button").focus();
    await page.keyboard.press("Enter");
    await isOrdered("descending");
    assert.match(page.url(), /sort=-answer\.items/);
    // The same value is asked for, with completion and with a mistake below the word.
    await page.keyboard.press("/");
    await page.keyboard.type("answer.it");
    await page
      .getByRole("option", { name: /answer\.items\[0\]\.id/ })
      .first()
      .waitFor();
    await page.keyboard.type("ems[0].id=0 ");
    await page.waitForFunction(
      () => document.querySelectorAll("[data-testid=run-row]").length === 1,
    );
    await page.keyboard.type("answer.items[x]=0 ");
    await page.getByText("is no part of an answer").first().waitFor();
    await accessible(page);
    await page.keyboard.press("Control+a");
    await page.keyboard.press("Delete");
    await page.keyboard.press("Escape");
    await rows(page).nth(1).waitFor();
    await page.reload();
    await cells("answer.items[0].id").first().waitFor();
    await page.setViewportSize({ width: 900, height: 800 });
    await accessible(page);
  });
});

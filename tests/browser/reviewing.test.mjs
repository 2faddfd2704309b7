// Reviews the unreviewed runs by keyboard alone: each verdict goes to the run on screen.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { accessible, onPage, openBrowser } from "./stage.mjs";

let browser;
before(async () => (browser = await openBrowser()));
after(() => browser.close());

const RUNS = 20;
const file = (n) => `task${String(n).padStart(2, "0")}-tool_calling-o1-variation0.yaml`;
const files = {
  "tasks/other.yaml": "tool_calling_prompt: something else\n",
  ...Object.fromEntries(
    Array.from({ length: RUNS }, (_, n) => [
      `results/${file(n)}`,
      `conversation:\n  - user_message: question ${n}\n  - assistant_message: answer ${n}\n`,
    ]),
  ),
};
const WORDS = { 1: ["right", "right"], 2: ["partly right", "partly"], 3: ["wrong", "wrong"] };
/** Keys pressed on each run in turn. */
const PRESSED = ["1", "2", "3", "10", "23", "310", "", "1020", "2"];

test("verdicts by keyboard along a list of runs that are not reviewed are those of the runs on screen", () =>
  onPage(browser, { files, args: ["--allow-run"] }, async (page, { folder }) => {
    const said = page.locator("footer [role=status]");
    const task = async () => (await page.locator(".who h1").textContent()).trim();
    const at = (n) =>
      page
        .getByTestId("run-position")
        .getByText(`${n + 1} of ${RUNS}`, { exact: true })
        .waitFor();
    const opened = async (n) => {
      await at(n);
      await page.getByTestId("review").waitFor();
    };
    await page
      .getByTestId("run-row")
      .nth(RUNS - 1)
      .waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("review:no");
    await page.waitForFunction(() => location.hash.includes("review"));
    await page.getByTestId("total").getByText(`${RUNS} runs match`).waitFor();
    // A partial word matches nothing, and an empty list takes no focus.
    await page
      .getByTestId("run-row")
      .nth(RUNS - 1)
      .waitFor();
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.activeElement.id === "runs-grid");
    const order = (
      await page.getByTestId("run-row").evaluateAll((rows) => rows.map((row) => row.textContent))
    ).map((text) => /task\d\d/.exec(text)[0]);
    // The cursor may be further down, on runs that were read first.
    await page.keyboard.press("Home");
    await page.keyboard.press("Enter");
    const wanted = new Map();
    for (let n = 0; n < RUNS; n++) {
      await opened(n);
      const name = await task();
      assert.equal(name, order[n], "the list stays as it was");
      const stood = [];
      for (const key of PRESSED[n % PRESSED.length]) {
        await page.keyboard.press(key);
        if (key === "0") {
          await said.getByText("Undone.", { exact: true }).waitFor();
          stood.pop();
        } else {
          await said.getByText(`Marked ${WORDS[key][0]}. Undo (0)`, { exact: true }).waitFor();
          stood.push(WORDS[key][1]);
        }
      }
      wanted.set(name, stood.at(-1) ?? null);
      if (n % 4 === 3) {
        // Undo affects only the latest verdict, which belongs to another run.
        await page.keyboard.press("K");
        await opened(n - 1);
        await page.waitForFunction(
          () => !document.querySelector("footer [role=status]").textContent.includes("Undo (0)"),
        );
        await page.keyboard.press("0");
        await said.getByText("Nothing to undo").waitFor();
        await page.keyboard.press("J");
        await opened(n);
      }
      await page.keyboard.press("J");
    }
    await said.getByText("This is the last run of the list.").waitFor();
    await at(RUNS - 1);
    assert.equal(wanted.size, RUNS);
    for (const [name, verdict] of wanted) {
      const path = join(
        folder,
        `results/.touchstone/reviews/${name}-tool_calling-o1-variation0.yaml`,
      );
      const kept = existsSync(path)
        ? (/^verdict: (\w+)$/m.exec(readFileSync(path, "utf8"))?.[1] ?? null)
        : null;
      assert.equal(kept, verdict, name);
    }
    // Back in the list, the list is current.
    await page.keyboard.press("Escape");
    const left = [...wanted.values()].filter((verdict) => verdict === null).length;
    await page.getByTestId("total").getByText(`${left} runs match`).waitFor();
    // The cursor is on an existing run, so Enter opens one.
    await page.keyboard.press("Enter");
    await page.getByTestId("review").waitFor();
  }));

test("the end of a queue of selected runs leads back to the list as it was, with its selection", () =>
  onPage(browser, { files, args: ["--allow-run"] }, async (page) => {
    const said = page.locator("footer [role=status]");
    const list = page.getByTestId("run-row");
    await list.nth(RUNS - 1).waitFor();
    await page.evaluate(() => (location.hash = "#/runs?q=model:o1&sort=-path"));
    await page.getByTestId("total").getByText(`${RUNS} runs match`).waitFor();
    await page.keyboard.press("x");
    await page.keyboard.press("j");
    await page.keyboard.press("x");
    await page.getByTestId("review-queue").getByText("2 selected runs").waitFor();
    await page.keyboard.press("v");
    for (const [n, key] of ["1", "3"].entries()) {
      await page
        .getByTestId("run-position")
        .getByText(`${n + 1} of 2`)
        .waitFor();
      await page.getByTestId("review").waitFor();
      await page.keyboard.press(key);
      await said.getByText(`Marked ${WORDS[key][0]}`).waitFor();
    }
    await page.getByTestId("queue-end").getByText("1 right, 1 wrong.").waitFor();
    await accessible(page);
    await page.keyboard.press("Enter");
    await said.getByText("Reviewed 2 runs: 1 right, 1 wrong.").waitFor();
    assert.equal(await page.evaluate(() => location.hash), "#/runs?q=model%3Ao1&sort=-path");
    assert.equal(await page.locator("[data-testid=run-row][aria-selected=true]").count(), 2);
  }));

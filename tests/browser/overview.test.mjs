// The overview: cells, keys, folds, sticky headers, selection and new files.
import assert from "node:assert/strict";
import { existsSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { openProvider, says } from "./provider.mjs";
import { accessible, onPage, openBrowser } from "./stage.mjs";

let browser;
before(async () => (browser = await openBrowser()));
after(() => browser.close());

const DONE = "conversation:\n  - user_message: count\n  - assistant_message: done\nanswer: 3\n";
const WRONG = DONE.replace("answer: 3", "answer: 4");
const SUITE =
  "tool_calling_prompt: count the {what}\nrepeat: 2\n" +
  "variations:\n  - name: few\n    parameters: {what: apples}\n" +
  "    expected_output: 3\n  - name: many\n    parameters: {what: pears}\n" +
  "    expected_output: 3\n";
const run = (task, model, variation, repeat = 1) =>
  `results/${task}-tool_calling-${model}-variation${variation}${repeat > 1 ? `-run${repeat}` : ""}.yaml`;
const FILES = {
  "tasks/fruit.yaml": SUITE,
  "tasks/stones.yaml":
    "tool_calling_prompt: count the stones\nvariations:\n  - parameters: {}\n    expected_output: 3\n",
  [run("fruit", "claude", 0)]: DONE,
  [run("fruit", "claude", 0, 2)]: WRONG,
  [run("fruit", "claude", 1)]: "conversation:\n  - user_message: count\n  - error: no credit\n",
  [run("fruit", "o1", 0)]: "conversation:\n  - user_message: count\n",
  [run("fruit", "o1", 1)]: "conversation: [unclosed\n",
  [run("stones", "o1", 0)]: DONE,
  [run("more", "o1", 4)]: DONE,
  "results/notes-on-it.yaml": DONE,
};
const at = (page, row, column) => page.locator(`[id="cell-${row}-${column}"]`);
const cursor = (page) => page.evaluate(() => document.querySelector(".cursor")?.id);
async function overview(page, hash = "#/overview") {
  await page.evaluate((wanted) => (location.hash = wanted), hash);
  await page.getByTestId("overview-row").first().waitFor();
}
const until = (page, holds, wanted) => page.waitForFunction(holds, wanted);
const press = async (page, ...keys) => {
  for (const key of keys) await page.keyboard.press(key);
};

for (const width of [1280, 800])
  test(`the matrix is accessible, ${width} wide, with a selection and when folded`, () =>
    onPage(browser, { files: FILES, viewport: { width, height: 760 } }, async (page) => {
      await overview(page);
      await accessible(page);
      await page.getByTestId("overview-grid").focus();
      await press(page, "x", "j", "x", "l");
      await page.getByTestId("overview-picked").waitFor();
      await accessible(page);
      await press(page, "F");
      await until(page, () => document.querySelectorAll("[data-testid=overview-row]").length === 4);
      await accessible(page);
      await press(page, "/");
      await page.keyboard.type("state:error nothing-like-it");
      await page.getByText("No matching runs").waitFor();
      await accessible(page);
    }));

test("what does not fit into a cell is out of sight, and moves nothing that does", () =>
  onPage(browser, { viewport: { width: 1100, height: 760 } }, async (page) => {
    await overview(page);
    // Narrows the columns below the width of the sample data, to imitate long numbers.
    await page.evaluate(() => {
      const grid = document.getElementById("overview-grid");
      grid.parentElement.style.setProperty(
        "--columns",
        `240px repeat(${Number(grid.getAttribute("aria-colcount")) - 1}, 150px)`,
      );
    });
    const seen = await page.evaluate(() =>
      [...document.querySelectorAll("[data-testid=overview-row]")].map((row) => {
        const box = row.getBoundingClientRect();
        const firsts = [...row.querySelectorAll(".name, .cell")].map((cell) =>
          [...cell.children]
            .find((child) => child.getBoundingClientRect().height > 0)
            ?.getBoundingClientRect(),
        );
        const middles = firsts
          .filter(Boolean)
          .map((first) => Math.abs((first.top + first.bottom) / 2 - (box.top + box.bottom) / 2));
        const wrapped = [...row.querySelectorAll(".cell")].some((cell) =>
          [...cell.children].some((child) => child.getBoundingClientRect().top >= box.bottom - 1),
        );
        return { off: Math.max(...middles), wrapped };
      }),
    );
    assert.ok(
      seen.some(({ wrapped }) => wrapped),
      "something does not fit",
    );
    assert.ok(
      seen.every(({ off }) => off < 3),
      JSON.stringify(seen),
    );
  }));

test("a cell says what became of its runs, and what the suites expect and is not there", () =>
  onPage(browser, { files: FILES }, async (page) => {
    await overview(page);
    const rows = await page.getByTestId("overview-row").evaluateAll((all) =>
      all.map((row) =>
        row
          .querySelector("[role=rowheader]")
          .innerText.replace(/[▾\s]+/g, " ")
          .trim(),
      ),
    );
    assert.deepEqual(rows, [
      "fruit 2 variations",
      "few",
      "many",
      "more",
      "stones",
      "Runs without a task 1",
    ]);
    const heads = await page
      .locator("[role=columnheader]")
      .evaluateAll((all) =>
        all.slice(1).map((head) => head.getAttribute("aria-label").split(":")[0]),
      );
    assert.deepEqual(heads, ["tool_calling · claude", "tool_calling · o1"]);
    const said = async (row, column) =>
      (await at(page, row, column).getAttribute("aria-label")).split(": ").slice(1).join(": ");
    assert.match(
      await said(1, 0),
      /^2 runs: 1 of 2 right, mean 0\.5\d \(95 % interval 0\.\d\d–\d\.\d\d\), flaky$/,
    );
    assert.match(await said(2, 0), /^1 run: 1 error, 1 missing/);
    assert.match(await said(1, 1), /^1 run: 1 paused, 1 missing/);
    // A file written a moment ago may still count as incomplete.
    await until(
      page,
      () => document.getElementById("cell-2-1").title === "1 run: 1 damaged, 1 missing",
    );
    assert.equal(await said(4, 0), "No run: 1 missing");
    assert.equal(await said(3, 0), "No run, none expected");
    assert.match(
      await page.getByTestId("overview-sums").innerText(),
      /^8 runs · .*1 error.* · 4 missing$/,
    );
    await page.getByTestId("filter").fill("state:error");
    await until(page, () => document.querySelectorAll("[data-testid=overview-row]").length === 1);
    assert.match(await page.getByTestId("overview-sums").innerText(), /missing not counted/);
  }));

test("keys walk the cells, open the worst run, and Escape and back lead to the same cell", () =>
  onPage(browser, { files: FILES }, async (page) => {
    await overview(page);
    await page.getByTestId("overview-grid").focus();
    await press(page, "j", "j", "ArrowRight", "h");
    assert.equal(await cursor(page), "cell-2-0");
    assert.match(
      await page.getByTestId("overview-said").innerText(),
      /^fruit · many · tool_calling · claude\s+1 run: 1 error/,
    );
    await press(page, "Enter");
    await until(page, () => location.hash.startsWith("#/run/"));
    await page.getByText("no credit").first().waitFor();
    await press(page, "Escape");
    await until(page, () => location.hash.startsWith("#/overview"));
    await page.getByTestId("overview-row").first().waitFor();
    assert.equal(await cursor(page), "cell-2-0");
    await press(page, "O");
    await until(
      page,
      () =>
        location.hash.startsWith("#/runs?q=") &&
        document.querySelectorAll("[data-testid=run-row]").length === 1,
    );
    await page.goBack();
    await page.getByTestId("overview-row").first().waitFor();
    await press(page, "k", "k", "k", "End", "Enter");
    await until(
      page,
      () =>
        location.hash.includes("q=system") &&
        document.querySelectorAll("[data-testid=run-row]").length === 4,
    );
  }));

test("folds are in the address and survive a reload", () =>
  onPage(browser, { files: FILES }, async (page) => {
    await overview(page);
    await page.getByTestId("overview-grid").focus();
    await press(page, "j", "f");
    await until(
      page,
      () =>
        document.querySelectorAll("[data-testid=overview-row]").length === 4 &&
        location.hash === "#/overview?task=fruit",
    );
    await page.reload();
    await until(page, () => document.querySelectorAll("[data-testid=overview-row]").length === 4);
    await page.locator('[id="cell-0--1"]').click();
    await until(page, () => document.querySelectorAll("[data-testid=overview-row]").length === 6);
  }));

test("a selection is compared, and launched with what is missing", () =>
  onPage(browser, { files: FILES, args: ["--allow-run"] }, async (page) => {
    await overview(page);
    await page.getByTestId("overview-grid").focus();
    await at(page, 1, 0).click({ modifiers: ["Control"] });
    // The end of the cell holds a checkbox.
    const { width, height } = await at(page, 1, 1).boundingBox();
    await at(page, 1, 1).click({ position: { x: width - 10, y: height / 2 } });
    assert.equal(await page.getByTestId("overview-picked").innerText(), "2 cells selected");
    await press(page, "c");
    await until(page, () => /^#\/compare\?run=[0-9a-f]{16}&run=[0-9a-f]{16}$/.test(location.hash));
    await page.goBack();
    await page.getByTestId("overview-row").first().waitFor();
    assert.equal(await page.getByTestId("overview-picked").innerText(), "2 cells selected");
    await press(page, "Escape");
    await at(page, 4, 0).click();
    await press(page, "r");
    await page.getByText("Launch 1 cell of the overview").waitFor();
    await page.getByText("stones", { exact: true }).first().waitFor();
    assert.equal(
      decodeURIComponent(await page.evaluate(() => location.hash)),
      "#/launch?cell=tool_calling|claude||stones",
    );
    await accessible(page);
  }));

test("what is missing in a cell is launched from there, and its run is in the cell", async () => {
  const provider = await openProvider(() => says("There are three.\n\n```json\n3\n```"));
  const workspace =
    `input_dir: tasks\noutput_dir: results\nmodels:\n` +
    `  near: { provider: openai, base_url: '${provider.url}', model: near-1, ` +
    `price: { input: 1, output: 10 } }\n`;
  const files = {
    "touchstone.yaml": workspace,
    "tasks/fruit.yaml": FILES["tasks/fruit.yaml"],
    "tasks/stones.yaml": FILES["tasks/stones.yaml"],
    [run("fruit", "near", 0)]: DONE,
  };
  try {
    await onPage(browser, { files, args: ["--allow-run"] }, async (page, { folder }) => {
      await overview(page);
      // Tasks without runs are one row until it is opened.
      assert.equal(
        (await at(page, 2, -1).innerText()).replace(/[▸\s]+/g, " ").trim(),
        "1 task and 1 variation without runs",
      );
      await at(page, 2, -1).click();
      await page.waitForURL(/missing=$/);
      await until(page, () => document.querySelectorAll("[data-testid=overview-row]").length === 5);
      assert.equal(await at(page, 4, 0).getAttribute("title"), "No run: 1 missing");
      await accessible(page);
      await at(page, 4, 0).click();
      await press(page, "r");
      await page.getByText("Launch 1 cell of the overview").waitFor();
      await page.getByTestId("run").and(page.locator(":enabled")).click();
      await until(
        page,
        () => document.querySelector("[data-testid=launch-state]")?.textContent === "Done",
      );
      assert.deepEqual(
        [
          provider.asked.length,
          provider.asked[0].model,
          existsSync(join(folder, run("stones", "near", 0))),
        ],
        [1, "near-1", true],
      );
      await press(page, "g", "v");
      await until(page, () => document.getElementById("cell-2-0")?.title.startsWith("1 run: "));
      assert.equal(
        await at(page, 0, 0)
          .getAttribute("title")
          .then((title) => title.startsWith("1 run: ")),
        true,
        "nothing else was run",
      );
    });
  } finally {
    await provider.close();
  }
});

test("a run that appears fills its cell without a reload", () =>
  onPage(browser, { files: FILES }, async (page, { folder, root }) => {
    await overview(page);
    assert.equal(await at(page, 4, 0).getAttribute("title"), "No run: 1 missing");
    writeFileSync(join(root, "beside"), DONE);
    renameSync(join(root, "beside"), join(folder, run("stones", "claude", 0)));
    await until(page, () => document.getElementById("cell-4-0")?.title.startsWith("1 run: "));
  }));

test("twelve columns fit 1440 pixels, with heads that are told apart", () => {
  const files = {};
  const models = ["claude-sonnet-4-20250514", "claude-sonnet-4-20260101", "o1", "o3-mini"];
  for (const system of ["promptql", "tool_calling", "tool_calling_python"])
    for (const model of models) files[run("a", model, 0).replace("tool_calling", system)] = DONE;
  return onPage(browser, { files, viewport: { width: 1440, height: 900 } }, async (page) => {
    await overview(page);
    const heads = page.locator("[role=columnheader]");
    assert.equal(await heads.count(), 13);
    const seen = await page.evaluate(() => {
      const grid = document.getElementById("overview-grid");
      const all = [...document.querySelectorAll("[role=columnheader]")].slice(1);
      return {
        beyond: grid.scrollWidth - grid.clientWidth,
        names: all.map((head) =>
          [".system", ".model"].map((part) => head.querySelector(part).innerText).join(" "),
        ),
        cut: all.filter((head) =>
          [...head.querySelectorAll(".system, .model")].some(
            (part) => part.scrollWidth > part.clientWidth,
          ),
        ).length,
      };
    });
    assert.equal(seen.beyond, 0, "the matrix does not scroll sideways");
    assert.equal(new Set(seen.names).size, 12, seen.names.join(", "));
    assert.equal(seen.cut, 0, "no name is cut at its end");
    await page.getByTestId("overview-columns").selectOption("model");
    await page.waitForURL(/columns=model$/);
    await accessible(page);
  });
});

for (const width of [1440, 900])
  test(`the leaderboard is sorted by its heads and has plots, ${width} wide`, () =>
    onPage(browser, { viewport: { width, height: 900 } }, async (page) => {
      await overview(page);
      const names = page.getByTestId("leaderboard-row").getByRole("rowheader");
      await names.first().waitFor();
      assert.equal(await names.count(), 9);
      const standing = await page.getByRole("columnheader", { name: "Standing" }).boundingBox();
      assert.ok(standing.x + standing.width <= width, "the standing is in sight");
      const cut = await page.evaluate(() => {
        const nav = document.querySelector("header nav");
        const { right, bottom } = nav.getBoundingClientRect();
        return [...nav.children]
          .map((place) => [place.textContent, place.getBoundingClientRect()])
          .filter(([, box]) => box.top < bottom && (box.right > right + 1 || box.bottom > bottom))
          .map(([name]) => name);
      });
      assert.deepEqual(cut, [], "no place is cut");
      const first = await names.first().innerText();
      const errors = page.getByRole("columnheader", { name: "Errors" });
      await errors.getByRole("button").focus();
      await page.keyboard.press("Enter");
      await until(
        page,
        () =>
          document.querySelector("[data-testid=leaderboard] [aria-sort=descending]")?.innerText !==
          undefined,
      );
      assert.equal(await errors.getAttribute("aria-sort"), "descending");
      assert.notEqual(await names.first().innerText(), first);
      await page.getByTestId("toggle-plots").click();
      await page.getByTestId("plot-cost").waitFor();
      await page.getByTestId("plot-seconds").waitFor();
      assert.equal(await page.getByTestId("plot-scores").locator("svg").count(), 9);
      // No label covers another one.
      const covers = await page.evaluate(() =>
        ["plot-cost", "plot-seconds"].flatMap((plot) => {
          const labels = [...document.querySelectorAll(`[data-testid=${plot}] text`)];
          const boxes = labels.map((label) => [label.textContent, label.getBoundingClientRect()]);
          return boxes.flatMap(([name, one], at) =>
            boxes
              .slice(0, at)
              .filter(
                ([, other]) =>
                  one.left < other.right - 1 &&
                  other.left < one.right - 1 &&
                  one.top < other.bottom - 3 &&
                  other.top < one.bottom - 3,
              )
              .map(([other]) => `${name} covers ${other}`),
          );
        }),
      );
      assert.deepEqual(covers, []);
      await accessible(page);
      await page.reload();
      await page.getByTestId("plot-cost").waitFor();
      await page.getByTestId("toggle-leaderboard").click();
      await page.getByTestId("leaderboard").waitFor({ state: "detached" });
      await page.reload();
      await page.getByTestId("plot-cost").waitFor();
      assert.equal(await page.getByTestId("leaderboard").count(), 0);
    }));

test("names and heads stay in sight of a large matrix, and few rows are drawn", () => {
  const files = {};
  const models = ["claude", "o1", "o3-mini", "m1", "m2", "m3"];
  for (let task = 0; task < 60; task++)
    for (const system of ["tool_calling", "promptql"])
      for (const model of models)
        for (const variation of [0, 1])
          files[
            `results/task${String(task).padStart(2, "0")}-${system}-${model}-variation${variation}.yaml`
          ] = DONE;
  return onPage(browser, { files, viewport: { width: 800, height: 600 } }, async (page) => {
    await until(page, () =>
      document.querySelector("[data-testid=status]")?.textContent.includes("1,440 runs"),
    );
    await overview(page);
    await page.getByTestId("overview-grid").focus();
    assert.equal(await page.getByTestId("overview-grid").getAttribute("aria-rowcount"), "181");
    await press(page, "G", "End");
    await until(page, () => document.querySelector(".cursor")?.id === "cell-179-11");
    const box = (selector) =>
      page.locator(selector).evaluate((element) => element.getBoundingClientRect().toJSON());
    // A cell is scrolled into sight after it is marked.
    const isInside = (selector) => {
      const [grid, cell] = ["[data-testid=overview-grid]", selector].map((one) =>
        document.querySelector(one)?.getBoundingClientRect(),
      );
      return (
        cell &&
        cell.left >= grid.left - 1 &&
        cell.right <= grid.right + 1 &&
        cell.top >= grid.top - 1 &&
        cell.bottom <= grid.bottom + 1
      );
    };
    for (const selector of [
      '[id="cell-179-11"]',
      '[id="cell-179--1"]',
      '[id="cell--1-11"]',
      '[id="cell--1--1"]',
    ])
      await page.waitForFunction(isInside, selector);
    assert.ok((await page.getByTestId("overview-row").count()) < 80);
    const isSeen = (id) => {
      const { left, top, width, height } = document.getElementById(id).getBoundingClientRect();
      return (
        document.elementFromPoint(left + width / 2, top + height / 2)?.closest("[role=gridcell]")
          ?.id === id
      );
    };
    assert.ok(
      await page.evaluate(isSeen, "cell-179-11"),
      "the last cell is painted, not only placed",
    );
    // A cell that scrolls back into sight is not hidden behind the names.
    for (let n = 0; n < 11; n++) await press(page, "h");
    const [cell, name] = [await box('[id="cell-179-0"]'), await box('[id="cell-179--1"]')];
    assert.ok(cell.left >= name.right - 1, JSON.stringify({ cell, name }));
  });
});

// Side-by-side comparison: folded steps, first difference, keys, order, narrow windows and hostile
// text.
import assert from "node:assert/strict";
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { accessible, onPage, openBrowser, rows } from "./stage.mjs";

let browser;
before(async () => (browser = await openBrowser()));
after(() => browser.close());

const call = (n, sql, result = `[{id: ${n}}]`) =>
  `  - tool_call: {id: c${n}, name: query_tickets, params: {sql: ${JSON.stringify(sql)}}, result: ${result}}\n`;
const run = (steps, answer, user = "sort the tickets") =>
  `conversation:\n  - user_message: ${user}\n${steps}  - assistant_message: sorted\nanswer: ${answer}\n`;
const same = [1, 2, 3].map((n) => call(n, `select ${n} from tickets`)).join("");
const HOSTILE = "<img src=x onerror=window.pwned=1><script>window.pwned=2</script>\u202egnp";
const SUITE =
  "tool_calling_prompt: sort the tickets\nvariations:\n  - name: few\n    parameters: {}\n    expected_output: [{id: 1, score: 5}, {id: 2, score: 4}]\n";
const [RIGHT, WRONG] = [
  "[{id: 1, score: 5}, {id: 2, score: 4}]",
  "[{id: 1, score: 5}, {id: 2, score: 3}]",
];
const path = (system, repeat = 1) =>
  `results/sort-${system}-o1-variation0${repeat > 1 ? `-run${repeat}` : ""}.yaml`;
const FILES = {
  "tasks/sort.yaml": SUITE,
  [path("tool_calling")]: run(
    same + call(4, "select id from tickets where open") + call(5, "select plan from plans"),
    RIGHT,
  ),
  [path("tool_calling", 2)]: run(
    same +
      call(4, "select id from tickets where urgent", "[{id: 9}]") +
      call(5, "select plan from plans"),
    WRONG,
  ),
  [path("tool_calling_python")]: run(
    same +
      `  - tool_call: {id: p, name: run_python, params: {code: ${JSON.stringify(`print('${HOSTILE}')`)}}, error: ${JSON.stringify(HOSTILE)}}\n`,
    WRONG,
  ),
  [path("tool_calling", 3)]: "conversation: [unclosed\n",
};

/** Ids of runs by path, once all are listed. */
const idsOf = (page, paths) =>
  page.evaluate(async (wanted) => {
    const request = {
      filter: "",
      sort: { column: "path", descending: false },
      span: { offset: 0, limit: 100 },
    };
    for (;;) {
      const reply = await fetch("/api/list_runs", {
        method: "POST",
        headers: { "content-type": "application/json", "x-touchstone": "1" },
        body: JSON.stringify({ request }),
      });
      const { rows } = await reply.json();
      const ids = wanted.map(
        (path) => rows.find((row) => row.path.endsWith(path.replace("results/", "")))?.id,
      );
      if (ids.every((id) => id !== undefined)) return ids;
      await new Promise(requestAnimationFrame);
    }
  }, paths);
const hashOf = (ids, row = null) =>
  `#/compare?${ids.map((id) => `run=${id}`).join("&")}${row === null ? "" : `&row=${row}`}`;
async function compare(page, paths, row = null) {
  await page.locator("[data-testid=run-row], main.compare").first().waitFor();
  const ids = await idsOf(page, paths);
  await page.evaluate((hash) => (location.hash = hash), hashOf(ids, row));
  await page
    .getByTestId("compared-run")
    .nth(paths.length - 1)
    .waitFor();
  return ids;
}
const press = async (page, ...keys) => {
  for (const key of keys) await page.keyboard.press(key);
};
const atRow = (page, row) =>
  page.waitForFunction(
    (wanted) => document.activeElement?.getAttribute("data-row") === String(wanted),
    row,
  );
const ALL = [
  path("tool_calling"),
  path("tool_calling", 2),
  path("tool_calling_python"),
  path("tool_calling", 3),
];
const TWO = ALL.slice(0, 2);

for (const width of [1280, 800])
  test(`runs beside each other are accessible, ${width} wide: two, four, opened, with their answers`, () =>
    onPage(browser, { files: FILES, viewport: { width, height: 760 } }, async (page) => {
      await compare(page, TWO);
      await page.locator("[data-testid=compare-row] ins").first().waitFor();
      await accessible(page);
      await press(page, "d");
      await page.waitForFunction(() => document.activeElement?.hasAttribute("data-row"));
      await press(page, "Enter");
      await page.locator("[data-testid=compare-row] .body").first().waitFor();
      await accessible(page);
      await press(page, "a");
      await page.locator("[data-testid=answers] [role=table]").waitFor();
      await accessible(page);
      await compare(page, ALL);
      await page.getByText("Not compared:").waitFor();
      await accessible(page);
      const widths = await page
        .getByTestId("compared-run")
        .evaluateAll((heads) => heads.map((head) => head.offsetWidth));
      assert.ok(
        widths.every((one) => one >= 300),
        `columns keep their least width: ${widths}`,
      );
      assert.equal(
        await page.evaluate(
          () => document.documentElement.scrollWidth > document.documentElement.clientWidth,
        ),
        false,
      );
    }));

test("equal steps are folded, where the runs part is marked, and d leads there; link and reload lead there, too", () =>
  onPage(browser, { files: FILES }, async (page) => {
    await compare(page, TWO);
    assert.match(await page.getByTestId("compare-fold").first().innerText(), /4 equal steps/);
    await page.getByText("First differs here", { exact: true }).waitFor();
    await press(page, "d");
    await atRow(page, 4);
    await page.waitForFunction(() => location.hash.endsWith("row=4"));
    const parted = page.locator("[data-row='4']");
    await parted.locator("ins", { hasText: "urgent" }).waitFor();
    assert.equal(await parted.locator("del", { hasText: "open" }).count(), 1);
    await page.goto(page.url().replace("row=4", "row=2"));
    await atRow(page, 2);
    assert.ok(await page.locator("[data-row='2']").isVisible(), "a row within a fold is unfolded");
    await page.reload();
    await atRow(page, 2);
    await press(page, "f");
    await page.getByText("4 equal steps").waitFor();
  }));

test("a comparison opens where the runs part, without the focus, and its headers are short there", () =>
  onPage(
    browser,
    {
      files: {
        "results/long-tool_calling-o1-variation0.yaml": late("a"),
        "results/long-tool_calling-o1-variation0-run2.yaml": late("b"),
      },
    },
    async (page) => {
      await compare(page, [
        "results/long-tool_calling-o1-variation0.yaml",
        "results/long-tool_calling-o1-variation0-run2.yaml",
      ]);
      const parted = page.locator("[data-row='24']");
      await parted.locator("ins", { hasText: "b" }).first().waitFor();
      await page.waitForFunction(() => {
        const row = document.querySelector("[data-row='24']").getBoundingClientRect();
        const head = document.querySelector(".heads").getBoundingClientRect();
        return head.height <= 96 && row.top >= head.bottom && row.bottom <= innerHeight;
      });
      assert.equal(
        await page.evaluate(() => document.activeElement?.hasAttribute("data-row")),
        false,
      );
      await press(page, "d");
      await atRow(page, 24);
      await accessible(page);
    },
  ));
// Every second of the first steps has another result, so that none is folded.
const late = (word) =>
  run(
    Array.from({ length: 30 }, (_, n) =>
      call(
        n,
        n < 23 ? `select ${n} from tickets` : `drop ${word} from plans where ${word} = ${n}`,
        n % 2 === 0 ? `[{id: ${n}, of: ${word}}]` : `[{id: ${n}}]`,
      ),
    ).join(""),
    "1",
  );

test("runs are put in front, swapped and dropped by key, and the cursor stays on its step", () =>
  onPage(browser, { files: FILES }, async (page) => {
    const [a, b, c] = await compare(page, ALL.slice(0, 3));
    const order = (...ids) =>
      page.waitForFunction((hash) => location.hash.startsWith(hash), hashOf(ids));
    const baseline = (name) =>
      page
        .locator("[data-testid=compared-run]", { hasText: "baseline" })
        .filter({ hasText: name })
        .waitFor();
    await press(page, "d");
    await page.waitForFunction(() => document.activeElement?.hasAttribute("data-row"));
    await press(page, "l", "p");
    await order(b, a, c);
    await baseline("run 2");
    await press(page, "L");
    await order(a, b, c);
    await baseline("run 1");
    await press(page, "x");
    await order(a, c);
    await page.waitForFunction(
      () => document.querySelectorAll("[data-testid=compared-run]").length === 2,
    );
    await press(page, "O");
    await page.waitForFunction(
      (ids) => ids.some((id) => location.hash.startsWith(`#/run/${id}`)),
      [a, c],
    );
  }));

test("the answers are beside each other and beside what was expected", () =>
  onPage(browser, { files: FILES }, async (page) => {
    await compare(page, TWO);
    await press(page, "a");
    const answers = page.getByTestId("answers");
    await answers.locator("[role=table]").waitFor();
    await answers
      .getByRole("group", { name: "Compared with" })
      .getByRole("button", { name: "expected" })
      .click();
    await answers
      .getByRole("group", { name: "Compared run" })
      .getByRole("button", { name: "run 1" })
      .click();
    await answers.locator(".summary.equal").waitFor();
    await press(page, "Escape");
    await page.waitForFunction(() => location.hash.startsWith("#/compare"));
    assert.equal(await answers.locator("[role=table]").count(), 0);
  }));

test("nothing in a step that is compared becomes more than text", () =>
  onPage(browser, { files: FILES }, async (page) => {
    await compare(page, [ALL[0], ALL[2]]);
    await press(page, "G", "Enter", "k", "Enter", "k", "Enter");
    await page.getByText("onerror=window.pwned").first().waitFor();
    assert.equal(await page.evaluate(() => window.pwned), undefined);
    assert.equal(await page.locator("#app script, #app img, #app [onerror]").count(), 0);
    assert.ok(
      !/\u202e/.test(await page.locator("#app").innerText()),
      "direction marks are shown as labels",
    );
  }));

test("a file that changes meanwhile is compared anew, where one was", () =>
  onPage(browser, { files: FILES }, async (page, { folder }) => {
    await compare(page, TWO);
    await press(page, "d");
    await atRow(page, 4);
    const changed = run(
      same +
        call(4, "select id from tickets where late", "[{id: 9}]") +
        call(5, "select plan from plans"),
      WRONG,
    );
    writeFileSync(join(folder, "next.tmp"), changed);
    renameSync(join(folder, "next.tmp"), join(folder, path("tool_calling", 2)));
    await page.locator("[data-row='4'] ins", { hasText: "late" }).waitFor();
    await atRow(page, 4);
  }));

test("five thousand steps scroll, and only those in sight are drawn", () =>
  onPage(
    browser,
    {
      files: {
        "results/long-tool_calling-o1-variation0.yaml": long("a"),
        "results/long-tool_calling-o1-variation0-run2.yaml": long("b"),
      },
    },
    async (page) => {
      await compare(page, [
        "results/long-tool_calling-o1-variation0.yaml",
        "results/long-tool_calling-o1-variation0-run2.yaml",
      ]);
      await press(page, "F", "G");
      await page.waitForFunction(
        () => Number(document.activeElement?.getAttribute("data-row")) >= 4_990,
      );
      assert.ok((await page.locator("[data-row]").count()) < 100);
      await press(page, "D");
      await page.waitForFunction(
        () => document.activeElement?.getAttribute("data-testid") === "compare-row",
      );
    },
  ));
const long = (word) =>
  run(
    Array.from({ length: 4_996 }, (_, n) =>
      call(n, `select ${n} from ${n % 500 === 0 ? word : "tickets"}`),
    ).join(""),
    "1",
  );

test("runs are chosen in the list with x and c, and one run leads to those of its task with c", () =>
  onPage(browser, { files: FILES }, async (page) => {
    await rows(page).first().waitFor();
    const [first] = await idsOf(page, [ALL[0]]);
    await page.evaluate((id) => (location.hash = `#/run/${id}`), first);
    await page.getByTestId("transcript").waitFor();
    await press(page, "c");
    await page.getByTestId("picked").filter({ hasText: "1 selected" }).waitFor();
    await page.waitForFunction(() => location.hash.includes("task"));
    await page.getByTestId("run-row").first().waitFor();
    const other = page.locator("[data-testid=run-row][aria-selected=false]").first();
    await other.locator("[data-box]").click();
    await page.getByTestId("picked").filter({ hasText: "2 selected" }).waitFor();
    await press(page, "c");
    await page.getByTestId("compared-run").nth(1).waitFor();
  }));

test("an address without runs, with one, or with some that are gone says what to do next", () =>
  onPage(browser, { files: FILES, mayFail: true }, async (page) => {
    const [a, b] = await compare(page, TWO);
    await page.evaluate(() => (location.hash = "#/compare"));
    await page.getByRole("button", { name: "Go to Runs" }).waitFor();
    await accessible(page);
    await page.evaluate((hash) => (location.hash = hash), hashOf([a]));
    await page.getByRole("button", { name: "Select runs to compare" }).waitFor();
    await page.evaluate((hash) => (location.hash = hash), hashOf([a, "gone", b]));
    await page.getByRole("button", { name: "Compare the other 2" }).click();
    await page.getByTestId("compared-run").nth(1).waitFor();
  }));

// The tasks of a folder: found by words and chips, shown in full, with links to their runs and a
// launch.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { accessible, onPage, openBrowser, ROOT, rows } from "./stage.mjs";

let browser;
before(async () => (browser = await openBrowser()));
after(() => browser.close());

const fixture = (name) =>
  readFileSync(join(ROOT, "tests/fixtures/stabletoolbench/queries", name), "utf8");
const SETS = {
  ...Object.fromEntries(
    [
      "test_instruction/G1_instruction.json",
      "test_instruction/G2_category.json",
      "test_instruction/G3_instruction.json",
      "test_query_ids/G1_instruction.json",
      "test_query_ids/G2_category.json",
    ].map((name) => [`tasks/${name}`, fixture(name)]),
  ),
  "tasks/plans/churn.yaml":
    "tool_calling_prompt: Who left in {month}?\npromptql_prompt: Who left in " +
    "{month}, by the program?\ntags: [hard]\nvariations:\n" +
    "  - month: May\n    expected_output: [{ name: Ann }]\n",
  "results/201-tool_calling-claude-variation0.yaml":
    "conversation:\n  - user_message: homes\n  - assistant_message: none\n",
};
const lines = (page) => page.getByTestId("task-row");
const names = async (page) => (await lines(page).locator("b").allTextContents()).join(" ");
const open = async (page, hash = "#/tasks") => {
  await page.evaluate((to) => (location.hash = to), hash);
  await lines(page).first().waitFor();
};
const found = (page, text) => page.getByTestId("task-count").filter({ hasText: text }).waitFor();

test("tasks are found by words and narrowed by sets and categories", () =>
  onPage(browser, { files: SETS }, async (page) => {
    await page.getByRole("navigation").getByRole("link", { name: "Tasks" }).click();
    await found(page, /^6 tasks$/);
    assert.equal(await names(page), "churn 101 102 201 202 301");
    await page.keyboard.press("/");
    await page.keyboard.type("river gauge");
    await found(page, "3 of 6 tasks");
    assert.equal(await names(page), "101 201 301");
    await page.getByRole("button", { name: /^Real_Estate/ }).click();
    await found(page, "2 of 6 tasks");
    await page.getByRole("button", { name: /^G2_category/ }).click();
    await found(page, "1 of 6 tasks");
    assert.match(page.url(), /#\/tasks\?q=river\+gauge&set=G2_category&category=Real_Estate$/);
    await page.reload();
    await found(page, "1 of 6 tasks");
    await page.getByTestId("task-filter").fill("nothing like that");
    await page.getByText("No matching tasks").waitFor();
    await accessible(page);
  }));

test(`a query shows what is right to call, its tools and its functions`, () =>
  onPage(browser, { files: SETS, args: ["--allow-run"] }, async (page) => {
    await open(page);
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    const task = page.getByTestId("task");
    await task.getByRole("heading", { name: "test_instruction/G1_instruction/102" }).waitFor();
    await task.getByText("Several APIs share function names here").waitFor();
    assert.match(
      await page.getByTestId("task-gold").innerText(),
      /Today most lent books[^]*same name as Yesterday most lent books[^]*Catalogue/,
    );
    await page.getByTestId("task-tools").locator("summary").first().click();
    await page.getByTestId("task-tools").locator("summary").nth(3).click();
    await page
      .getByTestId("task-tools")
      .getByRole("rowheader", { name: /title.required/ })
      .waitFor();
    await page.getByTestId("task-functions").locator("summary").click();
    const functions = JSON.parse(
      await page.getByTestId("task-functions").locator("pre").innerText(),
    );
    assert.deepEqual(
      functions.map((one) => one.function.name.slice(0, 12)),
      ["s_for_munici", "e_for_munici", "Finish"],
    );
    await accessible(page);
    await task.getByRole("link", { name: "Launch this task" }).click();
    await page.getByTestId("tasks-picked").filter({ hasText: "1 of 6" }).waitFor();
  }));

test("a task leads to its runs, whichever name they gave it", () =>
  onPage(browser, { files: SETS }, async (page) => {
    await open(page, "#/tasks?task=test_instruction%2FG2_category%2F201");
    await page.getByTestId("task-runs").filter({ hasText: "1 run" }).click();
    await page.getByTestId("run-row").first().waitFor();
    assert.equal(await page.getByTestId("run-row").count(), 1);
  }));

test("other suites show their prompts and variations, also on a narrow screen", () =>
  onPage(browser, { files: SETS, viewport: { width: 640, height: 900 } }, async (page) => {
    await open(page);
    await page.getByText("by the program?").waitFor();
    await page.getByTestId("task").getByText("month: May").waitFor();
    assert.ok((await page.getByTestId("task").innerText()).includes("Ann"));
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    await accessible(page);
  }));

test("what is not there is said", () =>
  onPage(
    browser,
    { files: { "results/a.txt": "", "tasks/b.txt": "" }, mayFail: true },
    async (page) => {
      await page.evaluate(() => (location.hash = "#/tasks"));
      await page.getByText("No tasks").waitFor();
      await accessible(page);
    },
  ));

test("a task that is gone is said beside the list", () =>
  onPage(browser, { files: SETS, mayFail: true }, async (page) => {
    await open(page, "#/tasks?task=gone%2F1");
    await page.getByRole("alert").filter({ hasText: "There is no task gone/1." }).waitFor();
  }));

test("tasks of other tools' runs are read with their expected answer, and not launched", () =>
  onPage(
    browser,
    {
      files: {
        "results/results.json": readFileSync(
          join(ROOT, "src-tauri/imports/tests/fixtures/promptfoo/results.json"),
          "utf8",
        ),
      },
    },
    async (page) => {
      await open(page);
      await found(page, "1 task");
      const task = page.getByTestId("task");
      await page.getByTestId("task-recorded").filter({ hasText: "promptfoo" }).waitFor();
      await task.getByText("Say hello", { exact: true }).waitFor();
      assert.match(
        await page.getByTestId("task-expected").innerText(),
        /^Expected answer\s+hello$/,
      );
      assert.equal(await task.getByText("Launch this task").count(), 0);
      await accessible(page);
      await page.getByTestId("task-runs").click();
      await rows(page).filter({ hasText: "hello" }).waitFor();
    },
  ));

test("ten thousand tasks are scrolled and searched like ten", () =>
  onPage(
    browser,
    {
      files: {
        "results/a.txt": "",
        "tasks/many.json": JSON.stringify(
          Array.from({ length: 10_000 }, (_, id) => ({
            api_list: [
              {
                category_name: `C${id % 90}`,
                tool_name: `Tool ${id % 700}`,
                api_name: `Api ${id}`,
                required_parameters: [],
                optional_parameters: [],
              },
            ],
            query: `Question number ${id} about the weather`,
            query_id: id,
          })),
        ),
      },
    },
    async (page) => {
      await open(page);
      await found(page, /^10,000 tasks$/);
      await page.getByTestId("task-filter").blur();
      await page.keyboard.press("G");
      await lines(page).filter({ hasText: "Question number 9999 " }).waitFor();
      await page.getByTestId("task").getByRole("heading", { name: "many/9999" }).waitFor();
      const began = Date.now();
      await page.getByTestId("task-filter").fill("4321");
      await found(page, "1 of 10,000 tasks");
      assert.ok(Date.now() - began < 2_000, `${Date.now() - began} ms`);
      assert.equal(await names(page), "4321");
    },
  ));

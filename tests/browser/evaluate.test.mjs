// Evaluates a data file from the page: text metrics to the end, a model that is stopped and
// resumed, and a read-only page that may not start.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { openProvider, says } from "./provider.mjs";
import { accessible, onPage, openBrowser, ROOT, rows } from "./stage.mjs";

let browser;
before(async () => (browser = await openBrowser()));
after(() => browser.close());

const DATA = readFileSync(join(ROOT, "tests/fixtures/evaluate/rows.jsonl"), "utf8");
const files = (url = "http://127.0.0.1:9/v1", more = {}) => ({
  "touchstone.yaml":
    `input_dir: tasks\noutput_dir: results\nmodels:\n` +
    `  local: { provider: openai, base_url: '${url}', model: any, price: { input: ` +
    `1, output: 2 } }\n`,
  "tasks/pool.jsonl": DATA,
  "results/a.txt": "",
  ...more,
});
const flat = async (locator) => (await locator.innerText()).replace(/\s+/g, " ").trim();
const open = async (page, hash = "#/evaluate") => {
  await page.evaluate((to) => (location.hash = to), hash);
  await page
    .getByTestId("evaluate")
    .getByRole("heading", { name: "Evaluate a data file" })
    .waitFor();
};
const card = (page, name) => page.getByRole("region", { name: `Evaluator ${name}`, exact: true });
const group = (page, name) => page.getByTestId("group").filter({ hasText: name });
const start = (page) => page.getByTestId("evaluate-start");
const state = (page, word) =>
  page.getByTestId("evaluation-state").getByText(word, { exact: true }).waitFor();
const fits = (page) => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);

test(`text evaluators take their inputs from columns and give numbers with what they leave out`, () =>
  onPage(browser, { files: files(), args: ["--allow-run"] }, async (page, { folder }) => {
    await page.getByRole("navigation").getByRole("link", { name: "Evaluate" }).click();
    const look = page.getByTestId("look");
    await look.getByText("4 rows · 3 columns").waitFor();
    await look.getByRole("cell", { name: "Das Wasser hat 26 °C." }).waitFor();
    await page.getByLabel("f1_score").check();
    await card(page, "f1_score")
      .getByTestId("lacks")
      .filter({ hasText: "response, ground_truth" })
      .waitFor();
    await accessible(page);
    await card(page, "f1_score").getByLabel("response").selectOption("answer");
    await card(page, "f1_score").getByLabel("ground_truth").selectOption("truth");
    await card(page, "f1_score").getByTestId("lacks").waitFor({ state: "detached" });
    await group(page, "Graders").locator("summary").click();
    await page.getByLabel("string_check").check();
    const check = card(page, "string_check");
    await check.getByLabel("Text", { exact: true }).fill("{{item.answer}}");
    await check.getByLabel("Compared with", { exact: true }).fill("{{item.truth}}");
    await page.getByTestId("evaluate-estimate").getByText("No API calls").waitFor();
    await accessible(page);
    await start(page).click();
    await state(page, "Done");
    const metrics = page.getByTestId("metrics");
    await metrics.waitFor();
    const numbers = await flat(metrics);
    assert.match(numbers, /f1_score mean 0\.\d{4} .* 4 0/);
    assert.match(numbers, /string_check pass_rate 0\.2500/);
    assert.match(await flat(page.getByTestId("paid")), /no API calls/);
    await accessible(page);
    const written = JSON.parse(readFileSync(join(folder, "results/evaluations/pool.json"), "utf8"));
    assert.equal(written.rows.length, 4);
    assert.equal(written.rows[1]["outputs.f1_score.f1_score"], 1);
    const evaluated = page.getByTestId("evaluated-row");
    assert.equal(await evaluated.count(), 4);
    assert.match(await flat(evaluated.nth(1)), /^2 question How deep is it\? .* 1\.0 ✓ pass/);
    await evaluated.nth(1).getByRole("link").click();
    await page.waitForFunction(() => location.hash.startsWith("#/run/"));
    await page.goBack();
    await state(page, "Done");
    await page.evaluate(() => (location.hash = "#/overview"));
    await page.getByTestId("left-out").getByText("4 rows of evaluations left out").waitFor();
    await page.goBack();
    await state(page, "Done");
    await page.getByTestId("result-rows").click();
    assert.match(decodeURIComponent(page.url()), /#\/runs\?q=path:\S*evaluations\/pool\.json/);
    await page.goBack();
    await state(page, "Done");
    await page.getByRole("link", { name: "New evaluation" }).click();
    await page.getByText("Replace the existing file").waitFor();
    assert.ok(await start(page).isDisabled());
    assert.equal(
      await check.getByLabel("Text", { exact: true }).inputValue(),
      "{{item.answer}}",
      "the sheet is as it was left",
    );
    await page.getByLabel("Replace the existing file").check();
    await start(page).and(page.locator(":enabled")).waitFor();
    await page.keyboard.press("Control+Enter");
    await state(page, "Done");
  }));

const ROWS = 40;
test("a model judges rows, is stopped, and what it said is not paid for again", async () => {
  const many = Array.from({ length: ROWS }, (_, at) =>
    JSON.stringify({ question: `How deep is pool ${at}?`, answer: `${at} metres` }),
  ).join("\n");
  const provider = await openProvider(() => says('{"explanation": "So it is.", "score": 4}'));
  try {
    await onPage(
      browser,
      { files: files(provider.url, { "tasks/pool.jsonl": many }), args: ["--allow-run"] },
      async (page) => {
        await open(page, "#/evaluate?by=relevance");
        const relevance = card(page, "relevance");
        await relevance.getByLabel("query").selectOption("question");
        await relevance.getByLabel("response").selectOption("answer");
        await relevance.getByLabel("Passes from").fill("4.5");
        await page
          .getByTestId("evaluate-estimate")
          .getByText(/^40 rows · 40 to 80 requests · about .* tokens · about \$/)
          .waitFor();
        assert.equal(provider.asked.length, 0);
        await accessible(page);
        provider.hold();
        await start(page).click();
        await provider.until(1);
        await state(page, "Running");
        await page.getByRole("button", { name: /^Stop/ }).click();
        await state(page, "Stopping");
        await accessible(page);
        provider.release();
        await state(page, "Stopped");
        assert.ok(provider.asked.length < ROWS);
        await page.getByRole("link", { name: "New evaluation" }).click();
        await page
          .getByTestId("evaluate-estimate")
          .getByText(/existing repl(y|ies) reused$/)
          .waitFor();
        const replace = page.getByLabel("Replace the existing file");
        if (await replace.isVisible()) await replace.check();
        await start(page).click();
        await state(page, "Done");
        assert.equal(provider.asked.length, ROWS);
        const numbers = await flat(page.getByTestId("metrics"));
        assert.match(numbers, /relevance mean 4 .* 40 0/);
        assert.match(numbers, /pass rate 0 /);
        await page.getByTestId("earlier").getByText("Stopped").waitFor();
      },
    );
  } finally {
    await provider.close();
  }
});

for (const [screen, options] of [
  ["on a wide screen", {}],
  ["on a narrow screen", { viewport: { width: 420, height: 860 } }],
])
  test(`a reload loses nothing of the sheet, and what was stopped is gone on with, ${screen}`, async () => {
    const many = Array.from({ length: ROWS }, (_, at) =>
      JSON.stringify({ item: { question: `How deep is pool ${at}?` }, answer: `${at} metres` }),
    ).join("\n");
    const provider = await openProvider(() => says('{"explanation": "So it is.", "score": 4}'));
    try {
      await onPage(
        browser,
        {
          files: files(provider.url, { "tasks/pool.jsonl": many }),
          args: ["--allow-run"],
          ...options,
        },
        async (page) => {
          const snap = (name) =>
            process.env.TOUCHSTONE_SNAPS &&
            page.screenshot({
              path: `${process.env.TOUCHSTONE_SNAPS}/evaluate-${name}-${screen.replaceAll(" ", "-")}.png`,
            });
          await open(page, "#/evaluate?by=relevance");
          const relevance = card(page, "relevance");
          await relevance.getByLabel("query", { exact: true }).selectOption({ label: "a path…" });
          await relevance.getByLabel("Path of query").pressSequentially("item.question");
          await relevance.getByLabel("response").selectOption("answer");
          await page.getByLabel("Spend limit ($)").fill("2");
          await page.getByRole("textbox", { name: "File", exact: true }).fill("depths");
          const estimate = page.getByTestId("evaluate-estimate");
          await estimate.getByText(/^40 rows · 40 to 80 requests/).waitFor();
          await page.reload();
          await estimate.getByText(/^40 rows · 40 to 80 requests/).waitFor();
          assert.equal(await relevance.getByLabel("Path of query").inputValue(), "item.question");
          assert.equal(await page.getByLabel("Spend limit ($)").inputValue(), "2");
          provider.hold();
          await start(page).click();
          await provider.until(1);
          await page.getByRole("button", { name: /^Stop/ }).click();
          await state(page, "Stopping");
          provider.release();
          await state(page, "Stopped");
          // Starts with an empty form, like a new user.
          await page.evaluate(() => sessionStorage.clear());
          await page.evaluate(() => (location.hash = "#/runs"));
          await page.reload();
          await open(page);
          const left = page.getByTestId("unfinished");
          await left.getByText("by relevance → depths.json").waitFor();
          await snap("unfinished");
          await accessible(page);
          assert.ok(await fits(page));
          await left.getByRole("button", { name: "Resume…" }).click();
          await estimate.getByText(/existing repl(y|ies) reused$/).waitFor();
          assert.equal(await relevance.getByLabel("Path of query").inputValue(), "item.question");
          await snap("again");
          await accessible(page);
          await start(page).click();
          await state(page, "Done");
          assert.equal(provider.asked.length, ROWS);
          await page.getByRole("link", { name: "New evaluation" }).click();
          await estimate.getByText("Replace the existing file").waitFor();
          await left.waitFor({ state: "detached" });
        },
      );
    } finally {
      await provider.close();
    }
  });

test("the demo has rows to evaluate, of which nothing has to be mapped", () =>
  onPage(browser, { args: ["--allow-run"] }, async (page) => {
    await open(page, "#/evaluate?by=f1_score");
    await page.getByTestId("look").getByText("8 rows · 4 columns").waitFor();
    await page.getByTestId("evaluate-estimate").getByText("8 rows · No API calls").waitFor();
    await page.getByTestId("more-rows").locator("summary").click();
    await accessible(page);
    await start(page).click();
    await state(page, "Done");
    assert.match(await flat(page.getByTestId("metrics")), /f1_score mean 0\.\d{4} .* 8 0/);
  }));

/** A run whose answer and expected answer are texts. */
const RUN = {
  "tasks/count.yaml":
    "tool_calling_prompt: How many plans are there?\nvariations:\n- expected_output: Three plans.\n",
  "results/count-tool_calling-o1-variation0.yaml":
    "conversation:\n- user_message: How many plans?\n- assistant_message: Three plans, I say.\nanswer: Three plans.\n",
};
for (const [screen, options] of [
  ["on a wide screen", {}],
  ["on a narrow screen", { viewport: { width: 420, height: 860 } }],
])
  test(`rows of the runs of the folder are made, chosen and evaluated by the column that is a text, ${screen}`, () =>
    onPage(
      browser,
      { files: files(undefined, RUN), args: ["--allow-run"], ...options },
      async (page, { folder }) => {
        await open(page, "#/evaluate?by=f1_score");
        const runs = page.getByTestId("rows-of-runs");
        await runs.locator("summary").click();
        await runs.getByLabel("Runs", { exact: true }).fill("model:o1 task:count");
        await runs.getByRole("button", { name: "Make rows" }).click();
        await page
          .getByTestId("rows-made")
          .getByText(/rows? in .*runs\.jsonl, now selected/)
          .waitFor();
        await page
          .getByTestId("look")
          .getByText(/^results\/evaluations\/runs\.jsonl/)
          .waitFor();
        const f1 = card(page, "f1_score");
        // The answer is not text, so its text is taken without a mapping.
        await page
          .getByTestId("evaluate-estimate")
          .getByText(/No API calls/)
          .waitFor();
        assert.equal(await f1.getByTestId("lacks").count(), 0);
        await accessible(page);
        assert.ok(await fits(page));
        await start(page).click();
        await state(page, "Done");
        assert.match(await flat(page.getByTestId("metrics")), /f1_score mean 1 /);
        const lines = readFileSync(join(folder, "results/evaluations/runs.jsonl"), "utf8")
          .trim()
          .split("\n");
        const written = JSON.parse(
          readFileSync(join(folder, "results/evaluations/runs.json"), "utf8"),
        );
        assert.equal(written.rows.length, lines.length);
      },
    ));

/** Opens a row of the list by name and returns its imported verdicts. */
const openRow = async (page, name) => {
  await rows(page).filter({ hasText: name }).first().click();
  await page.keyboard.press("Enter");
  await page.getByTestId("transcript").waitFor();
  const stored = page.getByTestId("stored");
  if (page.viewportSize().width < 600) await page.keyboard.press("s");
  await stored.waitFor();
  return stored;
};

for (const [screen, options] of [
  ["on a wide screen", {}],
  ["on a narrow screen", { viewport: { width: 420, height: 860 } }],
])
  test(`rows of a finished evaluation are in the list, each with its verdicts, reasons and replies, ${screen}`, async () => {
    const replied = '{"explanation": "<b>So</b> it is.", "score": 4}';
    const provider = await openProvider((asked) =>
      says(JSON.stringify(asked).includes("Two metres") ? "I would rather not say." : replied),
    );
    try {
      await onPage(
        browser,
        { files: files(provider.url), args: ["--allow-run"], ...options },
        async (page) => {
          await open(page, "#/evaluate?by=relevance");
          await card(page, "relevance").getByLabel("query").selectOption("question");
          await card(page, "relevance").getByLabel("response").selectOption("answer");
          await page
            .getByTestId("evaluate-estimate")
            .getByText(/requests/)
            .waitFor();
          provider.hold();
          await start(page).click();
          await provider.until(1);
          await state(page, "Running");
          const address = page.url();
          await page.evaluate(() => (location.hash = "#/runs"));
          await page
            .getByTestId("evaluating")
            .filter({ hasText: /evaluation running, \d of 4/ })
            .waitFor();
          await accessible(page);
          await page.getByTestId("evaluating").click();
          assert.equal(page.url(), address);
          provider.release();
          await state(page, "Done");
          await page.getByTestId("evaluating").waitFor({ state: "detached" });
          await page.getByTestId("result-rows").click();
          await rows(page).nth(3).waitFor();
          assert.equal(await rows(page).count(), 4);
          const stored = await openRow(page, "row-1");
          const transcript = page.getByTestId("transcript");
          const [first] = DATA.trim()
            .split("\n")
            .map((line) => JSON.parse(line));
          await transcript.getByText(first.question).first().waitFor();
          await transcript.getByText(first.answer).first().waitFor();
          await stored.getByText("From the file.").waitFor();
          assert.match(
            await flat(stored.locator("summary")),
            /^relevance passes · threshold 3 4(\.0)?$/,
          );
          await stored.locator("summary").click();
          await stored.getByText("<b>So</b> it is.", { exact: true }).waitFor();
          assert.equal(await stored.locator("pre").innerText(), replied);
          await accessible(page);
          assert.ok(await fits(page));
          await page.goBack();
          const silent = await openRow(page, "row-2");
          await silent.getByText("evaluator failed", { exact: true }).waitFor();
          await silent.locator("summary").click();
          await silent.locator("pre").first().waitFor();
          assert.equal(await silent.locator("pre").first().innerText(), "I would rather not say.");
          await silent.getByText("No result for this answer.").waitFor();
          await silent.getByText("The reply of the judge could not be read").waitFor();
          await accessible(page);
        },
      );
    } finally {
      await provider.close();
    }
  });

test("rows that a judge fails on have a reason and count in no number", async () => {
  const provider = await openProvider((asked) =>
    says(
      JSON.stringify(asked).includes("Two metres")
        ? "I would rather not say."
        : '{"explanation": "So it is.", "score": 4}',
    ),
  );
  try {
    await onPage(browser, { files: files(provider.url), args: ["--allow-run"] }, async (page) => {
      await open(page, "#/evaluate?by=relevance");
      await card(page, "relevance").getByLabel("query").selectOption("question");
      await card(page, "relevance").getByLabel("response").selectOption("answer");
      await page
        .getByTestId("evaluate-estimate")
        .getByText(/requests/)
        .waitFor();
      await start(page).click();
      await state(page, "Done");
      await page.getByTestId("failed").filter({ hasText: "1 without a result" }).waitFor();
      assert.match(await flat(page.getByTestId("troubles")), /2 relevance \S/);
      assert.match(await flat(page.getByTestId("metrics")), /relevance mean 4 .* 3 ◐ 1/);
      await accessible(page);
    });
  } finally {
    await provider.close();
  }
});

test("a page that may only look shows the file and evaluates nothing", () =>
  onPage(browser, { files: files(), mayFail: true }, async (page, { folder }) => {
    await open(page, "#/evaluate?by=f1_score");
    await page
      .getByTestId("evaluate-why-not")
      .getByText("touchstone serve --allow-run FOLDER")
      .waitFor();
    await page.getByTestId("look").getByText("4 rows · 3 columns").waitFor();
    assert.ok(await start(page).isDisabled());
    const refused = await page.evaluate(async () => {
      const post = async (name, body) =>
        (
          await fetch(`/api/${name}`, {
            method: "POST",
            headers: { "content-type": "application/json", "x-touchstone": "1" },
            body: JSON.stringify(body),
          })
        ).json();
      const { files } = await post("evaluate_options", {});
      const request = {
        data: files[0].id,
        evaluators: [],
        model: "",
        rounds: null,
        switches: [],
        out: "",
        replace: false,
        max_cost: null,
        again: "nothing",
      };
      return [
        await post("plan_evaluating", { request }),
        await post("start_evaluating", { request }),
        await post("stop_evaluating", { id: "x", now: true }),
        await post("pick_file", {}),
      ].map((one) => one.code);
    });
    assert.deepEqual(refused, ["not_allowed", "not_allowed", "not_allowed", "not_allowed"]);
    assert.ok(!existsSync(join(folder, "results/evaluations")));
    await accessible(page);
  }));

test("a folder without data files says what to do, and an evaluation that is gone says so", () =>
  onPage(
    browser,
    { files: { "results/a.txt": "", "tasks/b.txt": "" }, args: ["--allow-run"] },
    async (page) => {
      await open(page);
      await page.getByText("No data file").waitFor();
      await accessible(page);
      await page.evaluate(() => (location.hash = "#/evaluate/gone"));
      await page.getByText("Evaluation not found").waitFor();
      await accessible(page);
    },
  ));

test("two hundred columns, a hundred thousand rows and lines that are no rows are looked at on a narrow screen", () => {
  const wide = [
    Array.from({ length: 200 }, (_, at) => `column ${at}`).join(","),
    ...Array.from({ length: 3 }, (_, row) =>
      Array.from({ length: 200 }, (_, at) => `${row}.${at}`).join(","),
    ),
  ].join("\n");
  const long = Array.from({ length: 100_000 }, (_, at) =>
    JSON.stringify({ response: `answer ${at}`, ground_truth: "answer" }),
  ).join("\n");
  const more = {
    "tasks/wide.csv": wide,
    "tasks/long.jsonl": long,
    "tasks/broken.jsonl": '{"response": "a"}\n{"response": \n[1]\n',
  };
  return onPage(
    browser,
    { files: files(undefined, more), args: ["--allow-run"], viewport: { width: 420, height: 860 } },
    async (page) => {
      await open(page, "#/evaluate?by=f1_score");
      const file = page.getByLabel("Data file", { exact: true });
      const choose = async (name) =>
        file.selectOption(
          await file.locator("option").filter({ hasText: name }).getAttribute("value"),
        );
      await choose("wide.csv");
      const look = page.getByTestId("look");
      await look.getByText("3 rows · 200 columns").waitFor();
      await look.getByRole("button", { name: "Show all 200 columns" }).click();
      await look.getByRole("cell", { name: "2.199" }).waitFor();
      await accessible(page);
      assert.ok(await fits(page));
      await choose("broken.jsonl");
      await look
        .getByRole("list", { name: "Unreadable rows" })
        .getByText(/line 2/i)
        .waitFor();
      await page
        .getByTestId("evaluate-refused")
        .getByText(/broken\.jsonl cannot be read completely\. .*Fix the line/)
        .waitFor();
      assert.ok(await start(page).isDisabled());
      assert.equal(await flat(start(page)), "Evaluate");
      await accessible(page);
      assert.ok(await fits(page));
      await choose("long.jsonl");
      await look.getByText("100,000 rows · 2 columns").waitFor();
      await page.getByTestId("evaluate-estimate").getByText("100,000 rows").waitFor();
      assert.ok(await fits(page));
      await accessible(page);
    },
  );
});

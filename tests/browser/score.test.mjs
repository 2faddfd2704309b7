// Scores, reasons and reviews, on the page of a run and in the files beside it.
import assert from "node:assert/strict";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { accessible, onPage, openBrowser, ROOT, rows } from "./stage.mjs";

let browser;
before(async () => (browser = await openBrowser()));
after(() => browser.close());

const ticket = (id, score, more = "") =>
  `  - { ticket_id: ${id}, priority_score: ${score}, subject: ${more || `Ticket ${id}`} }\n`;
const suite = (expected) =>
  `tool_calling_prompt: prioritize the open tickets\n` +
  `scorers:\n  - fields: { key: ticket_id }\n  - kendall_tau\n` +
  `${expected === null ? "" : `variations:\n  - name: all\n    expected_output:\n${expected.replace(/^/gm, "    ").trimEnd()}\n`}`;
const EXPECTED = [101, 102, 103, 104, 105].map((id) => ticket(id, 200 - id)).join("");
const run = (answer) =>
  `conversation:\n  - user_message: prioritize the open tickets\n  - assistant_message: Here they are.\n${answer}`;
const WRONG = run(
  `answer:\n${ticket(101, "99.0")}${ticket(102, 81.9)}${ticket(105, 95)}${ticket(104, 96)}${ticket(999, 1)}`,
);
const name = (task, model = "o1") => `results/${task}-tool_calling-${model}-variation0.yaml`;
const REVIEW = `results/.touchstone/reviews/${name("rank").slice("results/".length)}`;
const FILES = {
  "tasks/rank.yaml": suite(EXPECTED),
  "tasks/open.yaml": "tool_calling_prompt: prioritize\nvariations:\n  - name: all\n",
  [name("rank")]: WRONG,
  [name("rank", "claude")]: run(`answer:\n${EXPECTED}`),
  [name("rank", "o3-mini")]:
    "conversation:\n  - user_message: prioritize the open tickets\n  - assistant_message: I cannot do that.\n",
  [name("rank", "failed")]:
    "conversation:\n  - user_message: prioritize the open tickets\n  - error: the provider answered with status 529\n",
  [name("open")]: run("answer: [1, 2]\n"),
  "results/unknown-tool_calling-o1-variation0.yaml": run("answer: [1, 2]\n"),
};

const onRuns = (act, options = {}) =>
  onPage(browser, { files: FILES, args: ["--allow-run"], ...options }, act);
async function openRun(page, path) {
  const file = path.slice("results/".length);
  await page.evaluate(
    (q) => (location.hash = `#/runs?q=${encodeURIComponent(`path:"${q}"`)}`),
    file,
  );
  await rows(page).first().waitFor();
  await page.waitForFunction(() => document.querySelectorAll("[data-testid=run-row]").length === 1);
  await rows(page).first().locator("a").first().click();
  await page.waitForFunction(() => location.hash.startsWith("#/run/"));
  await page.getByTestId("review").or(page.getByTestId("answer-diff")).first().waitFor();
}
const flat = async (locator) => (await locator.innerText()).replace(/\s+/g, " ").trim();
const answer = (page) => page.getByTestId("answer-diff");
const current = (page) => page.locator("[data-testid=answer-diff] .current [role=rowheader]");

for (const width of [1400, 800])
  test(`why a run is wrong is seen in one look and shown by one press (${width} wide)`, () =>
    onRuns(
      async (page) => {
        if (width > 1100) await openRun(page, name("rank"));
        else {
          await rows(page).first().waitFor();
          await page.evaluate(() => (location.hash = "#/runs?q=model%3Ao1+task%3Arank"));
          await page.waitForFunction(
            () => document.querySelectorAll("[data-testid=run-row]").length === 1,
          );
          await rows(page).first().locator("a").first().click();
        }
        const chip = page.getByTestId("score-chip");
        await chip.waitFor();
        assert.match(await flat(chip), /^Partly right 0\.\d\d/);
        if (width > 1100) {
          assert.match(await flat(chip), /2 of 5 rows right|rows right/);
          await page.getByTestId("why").getByText("#102").waitFor();
          assert.match(
            await flat(page.getByTestId("why")),
            /≠.*#102 priority_score.*98.*81\.9.*−.*#103 missing.*#999 extra/,
          );
          assert.match(await flat(page.getByTestId("scores")), /fields v3.*kendall_tau v1/);
        }
        await accessible(page);
        await chip.click();
        await answer(page).locator("[data-row]").first().waitFor();
        assert.match(page.url(), /view=answer/);
        assert.deepEqual(
          await answer(page)
            .getByRole("columnheader")
            .allInnerTexts()
            .then((all) => all.slice(1)),
          ["place: expected → answer", "ticket_id", "priority_score", "subject"],
        );
        await accessible(page);
        await page.keyboard.press("d");
        await page.waitForFunction(
          () => document.querySelector("[data-testid=answer-diff] .current") !== null,
        );
        const first = await current(page).innerText();
        await page.keyboard.press("d");
        await page.waitForFunction(
          (before) =>
            document
              .querySelector("[data-testid=answer-diff] .current [role=rowheader]")
              ?.textContent.trim() !== before,
          first,
        );
        await page.keyboard.press("t");
        await answer(page).locator("[data-line]").first().waitFor();
        await accessible(page);
        await page.reload();
        await answer(page).locator("[data-line]").first().waitFor();
        await page.keyboard.press("a");
        await page.getByTestId("step").first().waitFor();
        assert.ok(!page.url().includes("view="));
      },
      { viewport: { width, height: 820 } },
    ));

const STATES = [
  ["without an answer", name("rank", "o3-mini"), /no answer|gave up/i, /No answer.*It scores 0\./],
  [
    "that ended in a system error",
    name("rank", "failed"),
    /System error/,
    /No answer: the run ended in a system error.*529.*does not count as a wrong answer/,
  ],
  [
    "of a variation that expects nothing",
    name("open"),
    /No expected output/,
    /No expected output.*Add expected_output to tasks\/open\.yaml/,
  ],
  [
    "of a task that nobody knows",
    "results/unknown-tool_calling-o1-variation0.yaml",
    null,
    /Nothing to compare with.*no suite in this folder/,
  ],
  ["that is right", name("rank", "claude"), /Right 1\.00/, /all 5 rows right/],
];
for (const [which, path, chip, sentence] of STATES)
  test(`a run ${which} says so where its answer would be compared`, () =>
    onRuns(async (page) => {
      await openRun(page, path);
      if (chip) assert.match(await flat(page.getByTestId("score-chip")), chip);
      await page.keyboard.press("a");
      await answer(page).waitFor();
      await page.waitForFunction(
        () => !document.querySelector("[data-testid=answer-diff][aria-busy=true]"),
      );
      assert.match(await flat(answer(page)), sentence);
      await accessible(page);
    }));

test("a verdict, a score and a note are given by keyboard alone, and lie in a file beside the run", () =>
  onRuns(async (page, { folder }) => {
    const file = join(folder, REVIEW);
    await openRun(page, name("rank"));
    assert.ok(!existsSync(join(folder, "results/.touchstone")), "looking writes nothing");
    const review = page.getByTestId("review");
    await page.keyboard.press("2");
    await review.getByText("✓ saved").waitFor();
    assert.match(readFileSync(file, "utf8"), /^verdict: partly\n/);
    await page.keyboard.press("w");
    await page.keyboard.type("Ticket 102 is too low.");
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.type("0.5");
    await page.keyboard.press("Control+Enter");
    await page.waitForFunction(() =>
      document.querySelector("[data-testid=review]")?.textContent.includes("✓ saved"),
    );
    await until(
      () =>
        /score: 0\.5\n/.test(readFileSync(file, "utf8")) &&
        readFileSync(file, "utf8").includes("note: Ticket 102 is too low."),
    );
    await accessible(page);
    await page.keyboard.press("Escape");
    // The list shows the review too, and the automatic score is unchanged.
    await page.getByText("Reviewed: partly right").waitFor();
    assert.match(await flat(page.getByTestId("score-chip")), /^Partly right 0\.\d\d/);
    await page.keyboard.press("3");
    await page.getByText("Reviewed: wrong").waitFor();
    // The page follows an edit by hand.
    const author = readFileSync(file, "utf8").match(/^author: .*$/m)?.[0] ?? "";
    writeFileSync(file, `verdict: right\nnote: by hand\n${author}\n`);
    await page.getByText("Reviewed: right").waitFor();
    await until(async () => (await review.getByLabel("Note").inputValue()) === "by hand");
    // With another answer, the old review is shown but not counted.
    await page.keyboard.press("1");
    await page.keyboard.press("2");
    await until(() => readFileSync(file, "utf8").includes("verdict: partly"));
    writeFileSync(join(folder, name("rank")), WRONG.replace("81.9", "82.9"));
    await review.getByText("The answer has changed since this review").waitFor();
    await accessible(page);
    // A damaged review is reported with its line and never replaced.
    writeFileSync(file, "verdict: perfect\n");
    await page
      .getByTestId("scores")
      .getByText(/cannot be read .*line 1: This is not a verdict\./)
      .waitFor();
    // The browser logs the refused command.
    page.removeAllListeners("console");
    await page.keyboard.press("1");
    await review.getByRole("alert").getByText("Not saved").waitFor();
    assert.equal(readFileSync(file, "utf8"), "verdict: perfect\n");
  }));

/** Waits for a condition outside the page. */
async function until(holds) {
  const end = Date.now() + 20_000;
  while (!(await holds())) {
    assert.ok(Date.now() < end, `waited in vain: ${holds}`);
    await new Promise((later) => setTimeout(later, 20));
  }
}

test("on a page that may only look, a verdict is refused beside where it was given, and nothing is written", () =>
  onRuns(
    async (page, { folder }) => {
      await openRun(page, name("rank"));
      // The browser logs the refused command.
      page.removeAllListeners("console");
      await page.keyboard.press("1");
      await page
        .getByTestId("review")
        .getByRole("alert")
        .getByText("This page is read-only and cannot run or change anything.")
        .waitFor();
      await page.getByTestId("review").getByText("touchstone serve --allow-run").waitFor();
      await accessible(page);
      assert.ok(!existsSync(join(folder, "results/.touchstone")));
    },
    { args: [] },
  ));

test("of ten thousand rows only those in sight are drawn, and differences far away are found", () => {
  const rowsOf = (odd) =>
    Array.from({ length: 10_000 }, (_, id) => ticket(id, id === odd ? 1 : 7)).join("");
  const files = {
    "tasks/rank.yaml": suite(rowsOf(-1)),
    [name("rank")]: run(`answer:\n${rowsOf(8_765)}`),
  };
  return onRuns(
    async (page) => {
      await rows(page).first().waitFor();
      await rows(page).first().locator("a").first().click();
      await page.getByTestId("score-chip").click();
      await answer(page).locator("[data-row]").first().waitFor();
      assert.equal(await answer(page).locator("[data-row]").count(), 1);
      await page.getByLabel("only differences").uncheck();
      await page.waitForFunction(
        () => document.querySelectorAll("[data-testid=answer-diff] [data-row]").length > 5,
      );
      await page.keyboard.press("d");
      await page.waitForFunction(
        () =>
          document
            .querySelector("[data-testid=answer-diff] .current [role=rowheader]")
            ?.textContent.trim() === "8765",
      );
      assert.ok((await answer(page).locator("[data-row]").count()) < 200);
      await page.keyboard.press("G");
      await page.waitForFunction(
        () =>
          document
            .querySelector("[data-testid=answer-diff] .current [role=rowheader]")
            ?.textContent.trim() === "9999",
      );
    },
    { files },
  );
});

test("nothing in an answer, a suite or a review becomes markup or runs", () => {
  const evil = "<img src=x onerror=window.pwned=1>\\u202Egpj";
  const rowsOf = (more) => `  - { ticket_id: "${evil}", "${evil}": "${evil}${more}" }\n`;
  const files = {
    "tasks/rank.yaml": suite(rowsOf("")),
    [name("rank")]: run(`answer:\n${rowsOf("2")}`),
    [REVIEW]: `verdict: wrong\nnote: "${evil}"\n`,
  };
  return onRuns(
    async (page) => {
      await rows(page).first().waitFor();
      await rows(page).first().locator("a").first().click();
      await page.getByTestId("why").getByText("onerror").first().waitFor();
      await page.keyboard.press("a");
      await answer(page).locator("[data-row]").first().waitFor();
      await page.keyboard.press("t");
      await answer(page).locator("[data-line]").first().waitFor();
      assert.equal(await page.locator("#app img, #app script, #app [onerror]").count(), 0);
      assert.equal(await page.evaluate(() => window.pwned ?? null), null);
      assert.ok(!/\u202e/.test(await answer(page).innerText()));
    },
    { files },
  );
});

const GOLDEN = join(ROOT, "../shared/golden/benchmark");
test(
  "of the real runs of the benchmark every wrong one says why on its page",
  { skip: !existsSync(GOLDEN) && "no ../shared here" },
  () =>
    onPage(
      browser,
      { files: {}, args: ["--allow-run"], prepare: (folder) => copied(folder) },
      async (page) => {
        await rows(page).first().waitFor();
        await page.evaluate(() => (location.hash = "#/runs?q=passed%3Ano&sort=path"));
        await page.waitForTimeout(0);
        await page.getByTestId("total").waitFor();
        await rows(page).first().waitFor();
        const count = await rows(page).count();
        await rows(page).first().locator("a").first().click();
        for (let at = 0; at < count; at++) {
          await page.getByTestId("scores").waitFor();
          const why = await flat(page.getByTestId("score-chip"));
          assert.match(
            why,
            /^(?:Partly right|Wrong|No answer|Missing tool call|Tool error|Gave up)/,
          );
          if (/^(?:Partly right|Wrong)/.test(why))
            await page.getByTestId("why").locator("li").first().waitFor();
          if (at === 0) await accessible(page);
          const before = page.url();
          if (at < count - 1) {
            await page.keyboard.press("J");
            await page.waitForFunction((old) => location.href !== old, before);
            await page
              .getByTestId("run-position")
              .getByText(`${at + 2} of ${count}`)
              .waitFor();
          }
        }
        console.log(`${count} wrong runs of the benchmark looked at`);
      },
    ),
);

function copied(folder) {
  mkdirSync(dirname(folder), { recursive: true });
  rmSync(folder, { recursive: true, force: true });
  cpSync(GOLDEN, folder, { recursive: true });
}

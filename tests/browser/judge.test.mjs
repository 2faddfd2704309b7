// A model judges runs from the page: the estimate before, the verdicts after, and the file beside
// the results.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { openProvider, says } from "./provider.mjs";
import { accessible, onPage, openBrowser, rows } from "./stage.mjs";

let browser;
before(async () => (browser = await openBrowser()));
after(() => browser.close());

const RUN =
  "conversation:\n  - user_message: How many?\n  - assistant_message: Three.\nanswer: 3\n";
const SOLVED = '{"reason": "All there.", "verdict": "solved"}';
const name = (repeat) => `count-tool_calling-o1-variation0${repeat}.yaml`;
const files = (url) => ({
  "touchstone.yaml":
    `input_dir: tasks\noutput_dir: results\nmodels:\n` +
    `  local: { provider: openai, base_url: '${url}', model: any, price: { input: ` +
    `1, output: 2 } }\n`,
  "tasks/count.yaml": "tool_calling_prompt: How many?\nscorers: [judge:sopr]\n",
  [`results/${name("")}`]: RUN,
  [`results/${name("-run2")}`]: RUN,
});
/** The judgement file of the open run. */
const fileOf = async (page) =>
  `${(await page.locator("#run-side .file .path").first().innerText()).trim()}.yaml`;
const flat = async (locator) => (await locator.innerText()).replace(/\s+/g, " ").trim();

test(`a run is judged in two rounds, and why is one press away`, async () => {
  const provider = await openProvider(() => says(SOLVED));
  try {
    await onPage(
      browser,
      { files: files(provider.url), args: ["--allow-run"], viewport: { width: 1400, height: 900 } },
      async (page, { folder }) => {
        await rows(page).first().waitFor();
        await rows(page).first().locator("a").first().click();
        await page.getByTestId("judgements").getByRole("button", { name: "Judge this…" }).click();
        const dialog = page.getByTestId("judge");
        await dialog.getByLabel("Rounds").fill("2");
        await dialog.getByText("2 to 4 requests").waitFor();
        assert.equal(provider.asked.length, 0);
        await accessible(page);
        await dialog.getByRole("button", { name: "Judge 1 run" }).click();
        await dialog.getByTestId("judging-state").getByText("Done").waitFor();
        assert.match(await flat(dialog), /sopr: mean 1\.00 ± 0\.00 of 1 run/);
        await accessible(page);
        await dialog.getByRole("button", { name: "Close" }).click();
        const said = page.getByTestId("judgements");
        await said.locator("summary").first().click();
        await said.locator("ol > li").first().waitFor();
        assert.match(await flat(said.locator("ol > li").first()), /solved All there\./);
        await said.getByText("Reply as received").first().click();
        await said.locator("pre").first().waitFor();
        assert.equal(await flat(said.locator("pre").first()), SOLVED);
        await page.getByTestId("scores").getByText("solved, solved: All there.").waitFor();
        await accessible(page);
        assert.equal(provider.asked.length, 2);
        const kept = readFileSync(
          join(folder, "results/.touchstone/judgements", await fileOf(page)),
          "utf8",
        );
        assert.match(kept, /judge: sopr\n[^]*verdict: solved[^]*replies:/);
      },
    );
  } finally {
    await provider.close();
  }
});

for (const [look, viewport] of [
  ["wide", { width: 1400, height: 900 }],
  ["narrow", { width: 420, height: 800 }],
])
  test(`judging whose dialog was closed is in the footer, leads back to itself, and is stopped with all that runs (${look})`, async () => {
    const provider = await openProvider(() => says(SOLVED));
    try {
      await onPage(
        browser,
        { files: files(provider.url), args: ["--allow-run"], viewport },
        async (page) => {
          const snap = (name) =>
            process.env.TOUCHSTONE_SNAPS &&
            page.screenshot({
              path: `${process.env.TOUCHSTONE_SNAPS}/judging-${name}-${look}.png`,
            });
          await rows(page).first().waitFor();
          await rows(page).first().locator("a").first().click();
          await page.getByText("Three.").first().waitFor();
          if (viewport.width < 600) await page.keyboard.press("s");
          await page.getByTestId("judgements").getByRole("button", { name: "Judge this…" }).click();
          const dialog = page.getByTestId("judge");
          await dialog.getByText("requests").first().waitFor();
          provider.hold();
          await dialog.getByRole("button", { name: "Judge 1 run" }).click();
          await provider.until(1);
          await dialog.getByRole("button", { name: "Close" }).click();
          await page.evaluate(() => (location.hash = "#/overview"));
          const now = page.getByTestId("judging-now");
          await now.filter({ hasText: "judging running, 0 of 1" }).waitFor();
          await snap("footer");
          await accessible(page);
          await now.click();
          const going = page.getByTestId("judgings");
          await going.getByText("0 of 1 run").waitFor();
          await snap("dialog");
          await accessible(page);
          await page.keyboard.press("Escape");
          await page.keyboard.press("Control+k");
          await page.keyboard.type("Stop everything");
          await page.keyboard.press("Enter");
          await now.filter({ hasText: "judging stopping" }).waitFor();
          provider.release();
          await now.waitFor({ state: "detached" });
          await page.evaluate(() => (location.hash = "#/trust"));
          await page.getByRole("button", { name: "1 judging so far" }).click();
          await going
            .getByTestId("judging-state")
            .getByText(/Stopped|Done/)
            .waitFor();
          await snap("over");
          await accessible(page);
        },
      );
    } finally {
      await provider.close();
    }
  });

const RATED = '{"explanation": "It says how many there are, and no more.", "score": 4}';

for (const [look, viewport] of [
  ["wide", { width: 1400, height: 900 }],
  ["narrow", { width: 420, height: 800 }],
])
  test(`a judge is found among many, and its verdict is told on its own scale (${look})`, async () => {
    const provider = await openProvider(() => says(RATED));
    const suite =
      "tool_calling_prompt: How many?\nscorers: [judge:relevance: { model: local, rounds: 2, threshold: 4 }]\n";
    try {
      await onPage(
        browser,
        {
          files: { ...files(provider.url), "tasks/count.yaml": suite },
          args: ["--allow-run"],
          viewport,
        },
        async (page) => {
          const snap = (name) =>
            process.env.TOUCHSTONE_SNAPS &&
            page.screenshot({ path: `${process.env.TOUCHSTONE_SNAPS}/judge-${name}-${look}.png` });
          await rows(page).first().waitFor();
          await rows(page).first().locator("a").first().click();
          await page.getByText("Three.").first().waitFor();
          if (viewport.width < 600) await page.keyboard.press("s");
          await page.getByTestId("judgements").getByRole("button", { name: "Judge this…" }).click();
          const dialog = page.getByTestId("judge");
          // The suite names the judge, so it is preselected with its model and rounds.
          await dialog
            .getByTestId("judge-about")
            .getByText("passes from 4 of 5, set by the suites")
            .waitFor();
          await dialog
            .getByText("2 requests")
            .or(dialog.getByText("2 to 4 requests"))
            .first()
            .waitFor();
          assert.equal(
            await dialog.getByLabel("Rounds").getAttribute("placeholder"),
            "2, set by the suites",
          );
          assert.equal(
            await dialog.getByText("must be Finish").count(),
            0,
            "the rules of one benchmark are not those of another",
          );
          await snap("dialog");
          await accessible(page);
          // Typing filters judges, arrow keys select one; Esc clears the text first.
          const find = dialog.getByLabel("Find a judge");
          await find.fill("lead self-harm");
          await dialog.getByText("local judge").first().waitFor();
          assert.equal(await dialog.getByRole("radio").count(), 1);
          await find.press("Enter");
          await dialog
            .getByTestId("judge-about")
            .getByText("a local judge, not the hosted service")
            .waitFor();
          await snap("safety");
          await accessible(page);
          await find.press("Escape");
          await dialog.getByRole("radio", { name: /^relevance/ }).check();
          await dialog.getByRole("button", { name: "Judge 1 run" }).click();
          await dialog.getByTestId("judging-state").getByText("Done").waitFor();
          assert.match(
            await flat(dialog.getByTestId("judge-rates")),
            /^relevance: mean 4 of 5; as a score 0\.75 ± 0\.00 of 1 run; 1 of 1 pass \[/,
          );
          await snap("done");
          await accessible(page);
          await dialog.getByRole("button", { name: "Close" }).click();
          const said = page.getByTestId("judgements");
          await said.locator("summary").first().click();
          await said.locator("ol > li").first().waitFor();
          assert.match(
            await flat(said.locator("ol > li").first()),
            /^4 of 5 It says how many there are, and no more\./,
          );
          assert.match(
            await flat(said),
            /4 of 5 ± 0\.00 passes \(from 4 of 5, set by the suite\) · 4 of 5, 4 of 5/,
          );
          await said.getByText("Reply as received").last().click();
          assert.equal(await flat(said.locator("pre").last()), RATED);
          await snap("verdict");
          await accessible(page);
          assert.equal(provider.asked.length, 2);
        },
      );
    } finally {
      await provider.close();
    }
  });

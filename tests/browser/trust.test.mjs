// Agreement of judges with people: the empty state, a calibrated judge and the disagreements.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openProvider, says } from "./provider.mjs";
import { accessible, onPage, openBrowser, rows } from "./stage.mjs";

let browser;
before(async () => (browser = await openBrowser()));
after(() => browser.close());

const name = (repeat) =>
  `count-tool_calling-o1-variation0${repeat > 1 ? `-run${repeat}` : ""}.yaml`;
const review = (repeat) =>
  repeat === 1 ? "wrong" : repeat === 2 ? "partly" : repeat > 8 ? "wrong" : "right";
const answer = (repeat) => (repeat > 8 ? "Nothing." : "Three.");
/** Twelve runs, optionally all reviewed. */
const files = (url, reviewed = true) => ({
  "touchstone.yaml":
    `input_dir: tasks\noutput_dir: results\nmodels:\n` +
    `  local: { provider: openai, base_url: '${url}', model: any, price: { input: ` +
    `1, output: 2 } }\n`,
  "tasks/count.yaml": "tool_calling_prompt: How many?\n",
  ...Object.fromEntries(
    Array.from({ length: 12 }, (_, at) => at + 1).flatMap((repeat) => [
      [
        `results/${name(repeat)}`,
        `conversation:\n  - user_message: How many?\n  - assistant_message: ${answer(repeat)}\nanswer: ${answer(repeat)}\n`,
      ],
      ...(reviewed
        ? [
            [
              `results/.touchstone/reviews/${name(repeat)}`,
              `verdict: ${review(repeat)}\nnote: "Seen <b>by me</b>."\n`,
            ],
          ]
        : []),
    ]),
  ),
});
const judge = () =>
  openProvider((asked) =>
    says(
      JSON.stringify({
        reason: "So it seems.",
        verdict: JSON.stringify(asked).includes("Nothing.") ? "unsolved" : "solved",
      }),
    ),
  );
const flat = async (locator) => (await locator.innerText()).replace(/\s+/g, " ").trim();
const open = async (page) => {
  await rows(page).first().waitFor();
  await page.getByRole("navigation").getByRole("link", { name: "Trust" }).click();
  await page.getByTestId("trust").waitFor();
};
const shoot = (page, as) =>
  process.env.TOUCHSTONE_SHOTS
    ? page.screenshot({ path: `${process.env.TOUCHSTONE_SHOTS}/${as}.png` })
    : undefined;

test("where nobody reviewed anything, the next step is said", () =>
  onPage(browser, { files: files("http://127.0.0.1:9/v1", false) }, async (page) => {
    await open(page);
    await page.getByRole("heading", { name: "No reviewed runs yet" }).waitFor();
    assert.ok(await page.getByRole("button", { name: /^Calibrate a judge/ }).isDisabled());
    await accessible(page);
    await shoot(page, "trust-empty");
    await page.getByRole("link", { name: "Go to Runs" }).click();
    await rows(page).first().waitFor();
  }));

test(`a judge is calibrated on what people reviewed, and the numbers are there`, async () => {
  const provider = await judge();
  try {
    await onPage(
      browser,
      { files: files(provider.url), args: ["--allow-run"], viewport: { width: 1400, height: 900 } },
      async (page) => {
        await open(page);
        await page.getByText("No judgements of these runs yet.").waitFor();
        await accessible(page);
        await shoot(page, "trust-unjudged");
        await page.keyboard.press("c");
        const dialog = page.getByTestId("judge");
        await dialog.getByRole("heading", { name: "Judge 12 reviewed runs" }).waitFor();
        await dialog.getByLabel("Rounds").fill("1");
        await dialog.getByText(/^12 to \d+ requests/).waitFor();
        await shoot(page, "trust-dialog");
        await dialog.getByRole("button", { name: "Judge 12 runs" }).click();
        await dialog.getByTestId("judging-state").getByText("Done").waitFor();
        await dialog.getByRole("button", { name: "Close" }).click();
        const pairs = page.getByTestId("trust-pairs");
        await pairs.getByText("10 of 12").waitFor();
        await page.getByTestId("trust-pair").getByText("10 of 12 the same").waitFor();
        assert.match(
          await flat(pairs.locator("tbody tr").first()),
          /^people and sopr by local 10 of 12 0\.68 0\.\d\d to 1\.00 0\.\d\d good/,
        );
        await page.getByTestId("confusion").waitFor();
        assert.match(
          await flat(page.getByTestId("confusion").locator("tbody")),
          /right 6 the same 0 0 6 in between 1 0 the same 0 1 wrong 1 0 4 the same 5 all 8 0 4 12/,
        );
        assert.equal(await page.getByTestId("disagreements").locator("li").count(), 2);
        assert.match(
          await flat(page.getByTestId("disagreements").locator("li").first()),
          /people partly right Seen <b>by me<\/b>\. sopr by local right So it seems\./,
        );
        await accessible(page);
        await shoot(page, "trust");
        await page.setViewportSize({ width: 420, height: 800 });
        await accessible(page);
        const wide = await page
          .getByTestId("trust")
          .evaluate((box) => box.scrollWidth - box.clientWidth);
        assert.ok(wide <= 1, `the page is ${wide} pixels too wide`);
        await shoot(page, "trust-narrow");
        await page.setViewportSize({ width: 1400, height: 900 });
        await page.getByTestId("disagreements").locator("a").first().click();
        const said = page.getByTestId("judgements");
        await said.locator("summary").first().click();
        await said.getByTestId("judge-agrees").waitFor();
        assert.match(
          await flat(said.getByTestId("judge-agrees")),
          /^agreement with people: κ 0\.68 of 12 runs, good/,
        );
        await accessible(page);
        await shoot(page, "trust-run");
        await said.getByTestId("judge-agrees").locator("a").click();
        await page.getByTestId("confusion").waitFor();
        await page.getByTestId("trust-filter").fill("review:wrong");
        await pairs.getByText("too few to tell").waitFor();
        assert.match(
          page.url(),
          /#\/trust\?q=review%3Awrong&first=people&second=sopr%3Aours%3Alocal$/,
        );
      },
    );
  } finally {
    await provider.close();
  }
});

test("the demo comes with reviews, and the automatic score is held against them", () =>
  onPage(browser, { viewport: { width: 1400, height: 900 } }, async (page) => {
    await open(page);
    const pairs = page.getByTestId("trust-pairs");
    await pairs.getByText("people and automatic score").waitFor();
    assert.match(await flat(pairs.locator("tbody tr").first()), /\d+ of \d+ 0\.\d\d/);
    await accessible(page);
    await shoot(page, "trust-demo");
  }));

// Why runs fail: causes of the sample data, by keys and by links, light and dark, and the states
// without any.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openProvider, says } from "./provider.mjs";
import { accessible, onPage, openBrowser, rows } from "./stage.mjs";

let browser;
before(async () => (browser = await openBrowser()));
after(() => browser.close());

const flat = async (locator) => (await locator.innerText()).replace(/\s+/g, " ").trim();
const open = async (page) => {
  await rows(page).first().waitFor();
  await page.getByRole("navigation").getByRole("link", { name: "Failures" }).click();
  await page.getByTestId("failures").waitFor();
};
const shoot = (page, as) =>
  process.env.TOUCHSTONE_SHOTS
    ? page.screenshot({ path: `${process.env.TOUCHSTONE_SHOTS}/${as}.png` })
    : undefined;

test("causes of failed runs lead to the step that shows them", () =>
  onPage(browser, { viewport: { width: 1400, height: 900 } }, async (page) => {
    await open(page);
    await page.getByText("27 of 66 runs failed or are only partly right").waitFor();
    const list = page.getByTestId("failures-list");
    // Causes of the runs that were read so far are shown before.
    await list
      .locator("li", { hasText: /13\s*Wrong values\s*9 causes/ })
      .first()
      .waitFor();
    assert.match(await flat(list.locator("li").first()), /13 Wrong values 9 causes/);
    await accessible(page);
    await shoot(page, "failures-light");
    await page.emulateMedia({ colorScheme: "dark" });
    await shoot(page, "failures-dark");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("j");
    const detail = page.getByTestId("failures-cluster");
    await detail.getByRole("heading", { name: "Field tickets has another value" }).waitFor();
    assert.match(await flat(page.getByTestId("failures-shares")), /1 of \d+ \d+ to \d+ %/);
    await page.keyboard.press("Enter");
    await page.waitForFunction(() =>
      /^#\/run\/[0-9a-f]+\?q=file%3A.+&step=\d+/.test(location.hash),
    );
    await page.goBack();
    await detail.getByRole("heading", { name: "Field tickets has another value" }).waitFor();
    await list.getByText("query_support_tickets").click();
    await detail.getByRole("link", { name: "Compare with a passing run" }).first().click();
    await page.waitForFunction(() => /^#\/compare\?run=[0-9a-f]+&run=/.test(location.hash));
  }));

test("the filter chooses the runs, and a narrow page shows both parts", () =>
  onPage(browser, { viewport: { width: 720, height: 900 } }, async (page) => {
    await open(page);
    await page.getByTestId("failures-list").waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("state:error");
    await page.getByText("4 of 4 runs failed or are only partly right, 4 of them").waitFor();
    await accessible(page);
    await shoot(page, "failures-narrow");
    await page.keyboard.press("Escape");
  }));

test("keys move between causes, which is read aloud, and scroll what has the focus", () =>
  onPage(browser, { viewport: { width: 1200, height: 420 } }, async (page) => {
    await open(page);
    await page.getByTestId("failures-list").getByText("Wrong values").first().waitFor();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("j");
    await page.waitForFunction(() =>
      /^2 of \d+: Field `tickets` has another value, 3 runs\.$/.test(
        document.querySelector("[data-testid=failures-chosen]").textContent,
      ),
    );
    const detail = page.getByTestId("failures-cluster");
    await detail.focus();
    await page.keyboard.press("ArrowDown");
    await page.waitForFunction(
      () => document.querySelector("[data-testid=failures-cluster]").scrollTop > 0,
    );
    await detail.getByRole("heading", { name: "Field tickets has another value" }).waitFor();
  }));

const files = {
  "touchstone.yaml": "input_dir: tasks\noutput_dir: results\n",
  "tasks/count.yaml": "tool_calling_prompt: How many?\nexpected_output: 7\n",
  "results/count-tool_calling-o1-variation0.yaml":
    "conversation:\n  - user_message: How many?\n  - assistant_message: '7'\nanswer: 7\n",
};
test("where nothing failed, it says so", () =>
  onPage(browser, { files }, async (page) => {
    await open(page);
    await page.getByRole("heading", { name: "No failed runs" }).waitFor();
    await accessible(page);
    await shoot(page, "failures-empty");
  }));

test("a model names the causes after it says what that takes, and the mined names stay", async () => {
  const provider = await openProvider(() => says("Looks for a table that is gone."));
  const failed = (id) =>
    "conversation:\n- user_message: Count.\n- tool_call: { name: count, params: { of: a }, " +
    `error: 'no table t_${id}' }\n- assistant_message: There are ${id}.\nanswer: ${id}\n`;
  const files = {
    "touchstone.yaml":
      `input_dir: tasks\noutput_dir: results\nmodels:\n` +
      `  local: { provider: openai, base_url: '${provider.url}', model: any, price: { input: 1, output: 2 } }\n`,
    "tasks/count.yaml": "tool_calling_prompt: Count.\nexpected_output: 7\n",
    "results/count-tool_calling-o1-variation0.yaml": failed(1),
    "results/count-tool_calling-o1-variation0-run2.yaml": failed(2),
  };
  const options = { files, args: ["--allow-run"], viewport: { width: 900, height: 800 } };
  try {
    await onPage(browser, options, async (page) => {
      await rows(page).first().waitFor();
      await page.evaluate(() => (location.hash = "#/failures"));
      const list = page.getByTestId("failures-list");
      await list.getByText("count").first().waitFor();
      await page.getByTestId("failures-name").click();
      const dialog = page.getByTestId("name-causes");
      await dialog.getByLabel("Model").selectOption("local");
      await dialog.getByText(/About 1 request, \d+ tokens, \$0\.00/).waitFor();
      await dialog.getByText("First question").click();
      await dialog.getByText("no table").first().waitFor();
      assert.equal(provider.asked.length, 0);
      await accessible(page);
      await shoot(page, "name-causes-light");
      await page.emulateMedia({ colorScheme: "dark" });
      await accessible(page);
      await shoot(page, "name-causes-dark");
      await dialog.getByRole("button", { name: "Send 1 request" }).click();
      await page.getByTestId("cause-name").getByText("Looks for a table that is gone").waitFor();
      await page.getByText("1 cause named, $0.00").waitFor();
      await list.getByText("failed: no table").first().waitFor();
      await page.getByTestId("failures-cluster").getByText("named by local").waitFor();
      await accessible(page);
      await shoot(page, "named-causes");
      assert.equal(provider.asked.length, 1);
      await page.getByTestId("failures-name").click();
      await dialog.getByLabel("Model").selectOption("local");
      await dialog.getByText("This model has named all of these causes.").waitFor();
    });
  } finally {
    await provider.close();
  }
});

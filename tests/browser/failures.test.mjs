// Why runs fail: causes of the sample data, by keys and by links, light and dark, and the states
// without any.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
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
    await list.getByText("Wrong values").first().waitFor();
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
    await page.waitForFunction(() => /^#\/run\/[0-9a-f]+\?step=\d+/.test(location.hash));
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

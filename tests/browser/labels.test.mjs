// Labels of runs: from a filter, and given in a review; and a suite made from the tasks of runs.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { accessible, onPage, openBrowser, rows } from "./stage.mjs";

let browser;
before(async () => (browser = await openBrowser()));
after(() => browser.close());

const WORKSPACE =
  "# mine\nlabels:\n  severity: { kind: category, values: [low, high] } # how bad\n  owner: { kind: text }\n";
const run = (n) => `tickets-tool_calling-o1-variation0${n === 1 ? "" : `-run${n}`}.yaml`;
const files = {
  "touchstone.yaml": WORKSPACE,
  "tasks/tickets.yaml":
    "tool_calling_prompt: Count the tickets of jane.doe@example.org\nexpected_output: 42\n",
  ...Object.fromEntries(
    [1, 2, 3].map((n) => [
      `results/${run(n)}`,
      `conversation:\n  - user_message: question ${n}\n  - assistant_message: answer ${n}\n`,
    ]),
  ),
};
const options = { files, args: ["--allow-run"], viewport: { width: 1440, height: 900 } };

/** Runs an action of the palette. */
async function act(page, title) {
  await page.keyboard.press("Control+k");
  await page.keyboard.type(title);
  await page.getByRole("option", { name: title }).first().waitFor();
  await page.keyboard.press("Enter");
}

/** Shows the runs of a filter. */
async function filter(page, text, count) {
  await page.getByTestId("filter").fill(text);
  await page.waitForFunction(
    (count) => document.querySelectorAll("[data-testid=run-row]").length === count,
    count,
  );
  await page.keyboard.press("Enter");
}

test("a filter becomes a label, which is a column and a filter, and a wrong one is an error", () =>
  onPage(browser, options, async (page, { folder }) => {
    const workspace = () => readFileSync(join(folder, "touchstone.yaml"), "utf8");
    await rows(page).nth(2).waitFor();
    await filter(page, "turns:<9 repeat:>1", 2);
    await act(page, "Save filter as label");
    const dialog = page.getByTestId("save-label");
    await dialog.getByLabel("Name").fill("Severity");
    await dialog.getByText("There is a label of this name.").waitFor();
    assert.ok(await dialog.getByRole("button", { name: "Save" }).isDisabled());
    await dialog.getByLabel("Name").fill("again");
    await accessible(page);
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    assert.equal(workspace(), `${WORKSPACE}  "again": "turns:<9 repeat:>1"\n`);
    await filter(page, "label:again", 2);
    await rows(page).first().locator("[data-column=labels] .label").getByText("again").waitFor();
    await filter(page, "-label:again", 1);
    await page.getByTestId("filter").fill("label:agian");
    await page
      .getByTestId("filter-misread")
      .getByText("There is no label “agian”. Did you mean label:again?")
      .waitFor();
    await accessible(page);
  }));

test("a person gives a run labels in its review, and takes one back", () =>
  onPage(browser, options, async (page, { folder }) => {
    const review = join(folder, "results/.touchstone/reviews", run(1));
    const saved = async (text) => {
      await page.getByTestId("review").getByText("saved").waitFor();
      assert.match(readFileSync(review, "utf8"), text);
    };
    await rows(page).nth(2).waitFor();
    await filter(page, "repeat:1", 1);
    await rows(page).first().locator("a").first().click();
    await page.getByTestId("labels").waitFor();
    await page.locator("main").first().focus();
    const picker = page.getByTestId("label-picker");
    await page.keyboard.press("l");
    await picker.getByRole("option", { name: "severity: low" }).waitFor();
    await accessible(page);
    await page.keyboard.type("high");
    await page.keyboard.press("Enter");
    await picker.waitFor({ state: "detached" });
    await saved(/labels:\n {2}severity: high\n/);
    // The next key is a verdict.
    await page.keyboard.press("1");
    await page.getByTestId("review").locator("[aria-pressed=true]").getByText("Right").waitFor();
    // A word that names no label becomes one.
    await page.keyboard.press("l");
    await page.keyboard.type("flaky");
    await picker.getByRole("option", { name: "Create label “flaky”" }).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForFunction(
      () => document.querySelectorAll("[data-testid=labels] select")[1]?.value === "yes",
    );
    assert.match(readFileSync(join(folder, "touchstone.yaml"), "utf8"), /flaky/);
    const owner = page.getByTestId("labels").getByLabel("owner");
    await owner.fill("Zoë");
    await owner.press("Tab");
    await page.waitForFunction(() => document.querySelector("[data-testid=review-undo]"));
    await page.getByTestId("review").getByText("✓ saved").waitFor();
    await accessible(page);
    await page.getByTestId("review-undo").click();
    await page.locator("footer [role=status]").getByText("Undone.").waitFor();
    assert.doesNotMatch(readFileSync(review, "utf8"), /owner/);
    await page.goBack();
    await filter(page, "label:severity=high", 1);
    await rows(page).first().getByText("severity: high").waitFor();
  }));

test("the tasks of selected runs become a suite", () =>
  // A name that is taken is refused by the server.
  onPage(browser, { ...options, mayFail: true }, async (page, { folder }) => {
    await rows(page).nth(2).waitFor();
    await filter(page, "repeat:>1", 2);
    await act(page, "Make a suite");
    const dialog = page.getByTestId("make-suite");
    await dialog.getByText("1 of 1 task, from 2 runs").waitFor();
    await dialog.getByText("1 place was redacted").waitFor();
    await dialog.getByText("Preview").click();
    await dialog.getByText("[redacted]").first().waitFor();
    await accessible(page);
    await dialog.getByLabel("Name", { exact: true }).fill("tickets");
    await dialog.getByRole("button", { name: "Make" }).click();
    await dialog.getByText("There is a task named tickets.").waitFor();
    await dialog.getByLabel("Name", { exact: true }).fill("hard");
    await dialog.getByRole("button", { name: "Make" }).click();
    await page.getByTestId("suite-made").waitFor();
    await accessible(page);
    const suite = join(folder, "tasks/hard.yaml");
    assert.ok(existsSync(suite));
    assert.match(readFileSync(suite, "utf8"), /Count the tickets of \[redacted\]/);
    await dialog.getByRole("button", { name: "Close" }).click();
    await page.keyboard.press("g");
    await page.keyboard.press("t");
    await page.getByText("hard", { exact: true }).first().waitFor();
  }));

const shoot = (page, as) =>
  process.env.TOUCHSTONE_SHOTS
    ? page.screenshot({ path: `${process.env.TOUCHSTONE_SHOTS}/${as}.png` })
    : undefined;

test("labels are edited, renamed and removed, after it says how many runs have them", () =>
  onPage(
    browser,
    {
      ...options,
      files: {
        ...files,
        "touchstone.yaml": `${WORKSPACE}  again: repeat:>1 # twice\n  look: label:again\n`,
      },
    },
    async (page, { folder }) => {
      const workspace = () => readFileSync(join(folder, "touchstone.yaml"), "utf8");
      await rows(page).nth(2).waitFor();
      // Actions about labels are there once the labels are known.
      await page.getByText("Labels", { exact: true }).first().waitFor();
      await act(page, "Labels: rename");
      const dialog = page.getByTestId("labels-dialog");
      await dialog.getByRole("button", { name: "Remove again" }).click();
      await dialog.getByText("2 runs have it. Labels that ask for it: look.").waitFor();
      assert.ok(await dialog.getByRole("button", { name: "Remove the label" }).isDisabled());
      await accessible(page);
      await dialog.getByRole("button", { name: "Edit again" }).click();
      await dialog.getByLabel("Name").fill("Severity");
      await dialog.getByText("There is a label of this name.").waitFor();
      await dialog.getByLabel("Name").fill("twice");
      await accessible(page);
      await shoot(page, "labels-light");
      await page.emulateMedia({ colorScheme: "dark" });
      await page.setViewportSize({ width: 900, height: 700 });
      await accessible(page);
      await shoot(page, "labels-dark-narrow");
      await dialog.getByRole("button", { name: "Save" }).click();
      await dialog.getByRole("button", { name: "Edit twice" }).waitFor();
      assert.match(workspace(), /\n {2}"twice": repeat:>1 # twice\n {2}look: "label:twice"\n/);
      await dialog.getByRole("button", { name: "Edit severity" }).click();
      await dialog.getByLabel("Values, one on each line").fill("low\nmid\nhigh");
      await dialog.getByRole("button", { name: "Save" }).click();
      await dialog.getByText("given by people: low, mid, high").waitFor();
      await dialog.getByRole("button", { name: "Remove look" }).click();
      await dialog.getByText("2 runs have it.").waitFor();
      await dialog.getByRole("button", { name: "Remove the label" }).click();
      await dialog.getByRole("button", { name: "Edit look" }).waitFor({ state: "detached" });
      assert.equal(
        workspace(),
        `${WORKSPACE.replace("[low, high]", '["low", "mid", "high"]')}  "twice": repeat:>1 # twice\n`,
      );
      await dialog.getByRole("button", { name: "Close" }).click();
      await filter(page, "label:twice", 2);
    },
  ));

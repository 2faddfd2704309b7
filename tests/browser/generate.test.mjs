// A model writes tasks from the page: the estimate before, progress, a stop, and the suite.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { openProvider, says } from "./provider.mjs";
import { accessible, onPage, openBrowser } from "./stage.mjs";

let browser;
before(async () => (browser = await openBrowser()));
after(() => browser.close());

const files = (url) => ({
  "touchstone.yaml":
    `input_dir: tasks\noutput_dir: results\nmodels:\n` +
    `  local: { provider: openai, base_url: '${url}', model: any, price: { input: ` +
    `1, output: 2 } }\n`,
  "tasks/count.yaml": "tool_calling_prompt: How many?\n",
});
/** Writes as many pairs as it is asked for, with other questions each time. */
function writer() {
  let number = 0;
  return (asked) => {
    const count = Number(/Write (\d+) such pairs/.exec(asked.messages.at(-1).content)[1]);
    const pairs = Array.from({ length: count }, (_, at) => ({
      query: `What is ${number}.${at}?`,
      response: `It is ${at}.`,
    }));
    number += 1;
    return says(JSON.stringify(pairs));
  };
}
const options = (provider) => ({
  files: files(provider.url),
  args: ["--allow-run"],
  at: "#/tasks",
  viewport: { width: 1100, height: 800 },
});
const dialogOf = async (page) => {
  await page.getByTestId("generate-open").click();
  return page.getByTestId("generate");
};

test("a text of a file becomes a suite, with an estimate before anything is sent", async () => {
  const provider = await openProvider(writer());
  try {
    await onPage(browser, options(provider), async (page, { folder }) => {
      const dialog = await dialogOf(page);
      await accessible(page);
      await dialog.locator("input[type=file]").setInputFiles({
        name: "manual.md",
        mimeType: "text/markdown",
        // Longer than other arguments of a served page may be.
        buffer: Buffer.from(`# Manual\n\n${"The machine has two keys.\n\n".repeat(4_000)}`),
      });
      await dialog.getByTestId("generate-file").getByText("manual.md").waitFor();
      assert.equal(await dialog.getByLabel("Suite").inputValue(), "manual");
      await dialog.getByLabel("Questions").fill("9");
      await dialog.getByText("9 requests").waitFor();
      assert.equal(provider.asked.length, 0);
      await accessible(page);
      await dialog.getByRole("button", { name: "Generate 9 questions" }).click();
      await page
        .getByTestId("task")
        .getByRole("heading", { name: "Questions about manual" })
        .waitFor();
      assert.equal(await page.getByTestId("generate").count(), 0);
      assert.equal(provider.asked.length, 9);
      const suite = readFileSync(join(folder, "tasks/manual.yaml"), "utf8");
      assert.match(suite, /Written by local from manual\.md\./);
      await accessible(page);
    });
  } finally {
    await provider.close();
  }
});

test("stopped, what there is becomes the suite, and nothing is bought twice", async () => {
  const provider = await openProvider(writer());
  try {
    await onPage(browser, options(provider), async (page, { folder }) => {
      const start = async (name) => {
        const dialog = await dialogOf(page);
        await dialog.getByLabel("Text").fill("The machine has two keys.");
        await dialog.getByLabel("Suite").fill(name);
        await dialog.getByText("2 requests").waitFor();
        await dialog.getByRole("button", { name: "Generate 20 questions" }).click();
        return dialog;
      };
      provider.hold();
      const dialog = await start("part");
      await provider.until(1);
      provider.step();
      await dialog.getByText("10 of 20 questions").waitFor();
      await accessible(page);
      await dialog.getByRole("button", { name: "Close" }).click();
      await page.getByTestId("generating-now").click();
      await dialog.getByRole("button", { name: "Show" }).click();
      await dialog.getByRole("button", { name: "Stop" }).click();
      await dialog.getByRole("button", { name: "Stop now" }).click();
      await dialog.getByTestId("generation-why").getByText("It was stopped.").waitFor();
      await accessible(page);
      assert.equal(
        readFileSync(join(folder, "tasks/part.yaml"), "utf8").match(/- name:/g).length,
        10,
      );
      await dialog.getByRole("button", { name: "Open the suite" }).click();
      await page.getByTestId("task").getByText("Variations").waitFor();
      provider.release();
      const before = provider.asked.length;
      await start("whole");
      await page.getByTestId("task").locator(".mono", { hasText: "tasks/whole.yaml" }).waitFor();
      assert.equal(provider.asked.length, before + 1);
    });
  } finally {
    await provider.close();
  }
});

test("a page that is read-only says why nothing can be generated", () =>
  onPage(
    browser,
    { ...options({ url: "http://127.0.0.1:9/v1" }), args: [] },
    async (page, { folder }) => {
      const dialog = await dialogOf(page);
      await dialog.getByTestId("generate-why-not").getByText("--allow-run").waitFor();
      assert.ok(await dialog.getByRole("button", { name: "Generate" }).isDisabled());
      await accessible(page);
      assert.ok(!existsSync(join(folder, "results")));
    },
  ));

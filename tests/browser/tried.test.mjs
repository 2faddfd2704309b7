// The search tree of a run: the final path, folding, keys, node details, and links to the steps.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { ROOT, accessible, onPage, openBrowser, rows } from "./stage.mjs";

let browser;
before(async () => (browser = await openBrowser()));
after(() => browser.close());

const FOLDER = "tests/fixtures/stabletoolbench/answers/harbour-model/G1_harbour";
const FILES = Object.fromEntries(
  readdirSync(join(ROOT, FOLDER)).map((name) => [
    `results/harbour-model/G1_harbour/${name}`,
    readFileSync(join(ROOT, FOLDER, name), "utf8"),
  ]),
);
const HOSTILE = "<img src=x onerror=window.pwned=1><script>window.pwned=2</script>\u202egnp";

/** A tree with this many branches of three thoughts each, one of which continues. */
function wide(ways) {
  const thought = (text, children = [], pruned = false) => ({
    node_type: "Thought",
    description: text,
    pruned,
    children,
  });
  const call = (name, input, output, children) => ({
    node_type: "Action",
    description: name,
    pruned: false,
    children: [
      {
        node_type: "Action Input",
        description: input,
        observation: output,
        observation_code: 12,
        pruned: false,
        children,
      },
    ],
  });
  const way = (at) =>
    call(
      at === 3 ? HOSTILE : `look_${at}`,
      at === 3 ? HOSTILE : JSON.stringify({ at }),
      at === 3 ? HOSTILE : `{"error": "no ${at}", "response": "${"long ".repeat(3000)}"}`,
      [thought(at === 3 ? HOSTILE : `It was nothing ${at}`, [thought("Give this up", [], true)])],
    );
  return JSON.stringify({
    win: false,
    tree: {
      size: 1,
      max_length: 5,
      tree: {
        node_type: "Action Input",
        description: "",
        children: Array.from({ length: ways }, (_, at) => way(at)),
      },
    },
    forward_args: {},
    answer_generation: { valid_data: false, query: "Where is it?", final_answer: "" },
  });
}

async function open(page, name, key = "T") {
  await rows(page).first().waitFor();
  await rows(page).filter({ hasText: name }).first().click();
  await page.keyboard.press("Enter");
  await page.getByTestId("transcript").waitFor();
  if (key) await page.keyboard.press(key);
}
const tree = (page) => page.getByTestId("tried").getByRole("tree");
const items = (page) => page.locator("[data-node]");
const text = async (locator) => (await locator.innerText()).replace(/\s+/g, " ");

for (const width of [1280, 800])
  test(`what was tried is accessible, ${width} wide, and nothing stands out of its place`, () =>
    onPage(browser, { files: FILES, viewport: { width, height: 760 } }, async (page) => {
      await page.evaluate(() => (location.hash = "#/runs?q=path:101_DFS"));
      await open(page, "101");
      await items(page).nth(5).waitFor();
      await accessible(page);
      if (process.env.TOUCHSTONE_PICTURES)
        await page.screenshot({ path: join(process.env.TOUCHSTONE_PICTURES, `tree-${width}.png`) });
      assert.equal(
        await page.evaluate(
          () => document.documentElement.scrollWidth > document.documentElement.clientWidth,
        ),
        false,
      );
    }));

test("the tree says what counts, folds what lies beside it, and leads to the step", () =>
  onPage(browser, { files: FILES }, async (page) => {
    await page.evaluate(() => (location.hash = "#/runs?q=path:101_DFS"));
    await open(page, "101");
    assert.match(
      await text(page.getByTestId("tried-says")),
      /5 of 17 explored steps are on the final path/,
    );
    await page.waitForFunction(() => location.hash.includes("view=tree"));
    assert.equal(await items(page).count(), 18);
    // The first node on the final path has the focus; its thought is shown in full.
    await page
      .getByTestId("tried-node")
      .getByText("Start again with the day in the request.")
      .waitFor();
    await page.getByRole("button", { name: "Final path only" }).click();
    await page.waitForFunction(() => document.querySelectorAll("[data-node]").length === 7);
    const aside = page.locator("[data-node][aria-expanded=false]");
    assert.match(await aside.getAttribute("aria-label"), /on another branch.*11 more steps folded/);
    await aside.locator(".fold").click();
    await page.waitForFunction(() => document.querySelectorAll("[data-node]").length === 18);
    await tree(page)
      .getByRole("treeitem", { name: /ferry_prices.*unknown function/ })
      .click();
    await page.getByTestId("tried-node").getByText("No such function name").waitFor();
    // Enter on the final path goes to the step.
    await tree(page).focus();
    await page.keyboard.press("End");
    assert.match(
      await page.locator("[data-node][aria-selected=true]").getAttribute("aria-label"),
      /Finish.*step 8, answered/,
    );
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.activeElement?.getAttribute("data-index") === "7");
    await page.waitForFunction(() => !location.hash.includes("view=tree"));
    // Arrow keys fold, unfold and go to the start of a branch.
    await page.keyboard.press("T");
    await tree(page).focus();
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowLeft");
    await page.waitForFunction(() => document.querySelectorAll("[data-node]").length === 1);
    await page.keyboard.press("ArrowRight");
    await page.waitForFunction(() => document.querySelectorAll("[data-node]").length === 18);
  }));

test("tries are ways, what a rule chose is said, and a chain has no tree", () =>
  onPage(
    browser,
    {
      files: {
        ...FILES,
        "results/a-tool_calling-o1-variation0.yaml":
          "conversation:\n- user_message: hi\n- assistant_message: ho\n",
      },
    },
    async (page) => {
      await page.evaluate(() => (location.hash = "#/runs?q=path:102_CoT"));
      await open(page, "102");
      await page.getByText("Chosen by rule: the last of 2 tries.").waitFor();
      await tree(page).getByRole("treeitem", { name: "Try 2" }).waitFor();
      await page.evaluate(() => (location.hash = "#/runs?q=path:tool_calling"));
      await open(page, "a", null);
      assert.equal(await page.getByRole("button", { name: "Tree" }).count(), 0);
    },
  ));

test("thousands of nodes are drawn as they come into sight, and nothing in them is markup", () =>
  onPage(
    browser,
    { files: { "results/m/G1/7_DFS_woFilter_w2.json": wide(2500) } },
    async (page) => {
      await open(page, "7");
      await page.waitForFunction(() => document.querySelectorAll("[data-node]").length > 10);
      assert.ok((await items(page).count()) < 200, "only what is near is drawn");
      await tree(page)
        .getByRole("treeitem", { name: /img src/ })
        .first()
        .click();
      assert.equal(await page.evaluate(() => window.pwned), undefined);
      await tree(page).focus();
      await page.keyboard.press("End");
      await tree(page)
        .getByRole("treeitem", { name: /Give this up/ })
        .last()
        .waitFor();
      await page.keyboard.press("ArrowUp");
      await page.keyboard.press("ArrowUp");
      if (process.env.TOUCHSTONE_PICTURES)
        await page.screenshot({ path: join(process.env.TOUCHSTONE_PICTURES, "tree-many.png") });
      await page.getByTestId("tried-node").getByText("no 2499").waitFor();
      await accessible(page);
    },
  ));

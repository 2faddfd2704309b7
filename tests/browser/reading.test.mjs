// Finding one's way in a run: failures, the minimap, the tree of forks, the title, and a server that
// came back.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { accessible, onPage, openBrowser, rows, serve } from "./stage.mjs";

let browser;
before(async () => (browser = await openBrowser()));
after(() => browser.close());

const openFirst = async (page) => {
  await rows(page).first().locator("a").first().click();
  await page.waitForFunction(() => location.hash.startsWith("#/run/"));
  await page.getByTestId("step").first().waitFor();
};
const talk = (from, to) =>
  Array.from(
    { length: to - from },
    (_, at) => `- user_message: question ${from + at}\n- assistant_message: say ${from + at}\n`,
  ).join("");
const failedCall = (at) =>
  `- tool_call: { id: t${at}, name: look_up, params: { at: ${at} }, error: "no such table" }\n`;
const LONG =
  `conversation:\n${talk(0, 40)}${failedCall(1)}${talk(40, 80)}${failedCall(2)}${talk(80, 120)}` +
  "answer: 7\n";
const NAME = "count-tool_calling-o1-variation0.yaml";
const focused = (page) => page.evaluate(() => document.activeElement?.getAttribute("aria-label"));
const atEnd = () => {
  const box = document.querySelector("[data-testid='transcript']");
  return box !== null && box.scrollHeight - box.scrollTop - box.clientHeight < 60;
};

test("x goes from failure to failure, with the same number on the screen, in the address and for screen readers", () =>
  onPage(browser, { files: { [NAME]: LONG } }, async (page) => {
    await rows(page).first().waitFor();
    await openFirst(page);
    await page.keyboard.press("x");
    await page.getByText("Failure 1 of 2, step 81").waitFor();
    await page.waitForFunction(() => location.hash.includes("step=81"));
    assert.equal(await focused(page), "Step 81: look_up, failed");
    const number = page.locator("[data-index='80']").getByTestId("step-number");
    assert.equal(await number.innerText(), "81");
    // The message is seen beside the step, not below everything.
    const [message, step] = [
      await page.getByTestId("toast").boundingBox(),
      await page.locator("[data-index='80']").boundingBox(),
    ];
    assert.ok(Math.abs(message.y - step.y) < step.height + 50, `${message.y} ${step.y}`);
    await page.keyboard.press("x");
    await page.getByText("Failure 2 of 2, step 162").waitFor();
    await page.keyboard.press("x");
    await page.getByText("Failure 1 of 2, step 81. Continued from the top.").waitFor();
    await accessible(page);
    await page.reload();
    await page.locator("[data-index='80']").waitFor();
    await page.waitForFunction(
      () => document.activeElement?.getAttribute("aria-label") === "Step 81: look_up, failed",
    );
  }));

test("the minimap shows the whole run, a press goes there, and arrow keys go on", () =>
  onPage(browser, { files: { [NAME]: LONG } }, async (page) => {
    await rows(page).first().waitFor();
    await openFirst(page);
    const strip = page.getByRole("slider", { name: "Outline of the transcript" });
    await strip.waitFor();
    const { x, y, width, height } = await strip.boundingBox();
    await page.mouse.move(x + width / 2, y + height - 1);
    await page.getByText(/^Step 242 · /).waitFor();
    await page.mouse.down();
    await page.mouse.up();
    await page.waitForFunction(atEnd);
    await strip.focus();
    await page.keyboard.press("Home");
    await page.getByText("question 0", { exact: true }).waitFor();
    await page.waitForFunction(
      () => document.querySelector("[role='slider']").getAttribute("aria-valuenow") === "1",
    );
    await page.keyboard.press("ArrowDown");
    await page.waitForFunction(
      () => document.querySelector("[role='slider']").getAttribute("aria-valuenow") === "2",
    );
    await accessible(page);
  }));

test("of a run of a hundred thousand steps the minimap draws few shapes and leads to its middle", () =>
  onPage(
    browser,
    { files: { [NAME]: `conversation:\n${talk(0, 50_000)}${failedCall(1)}` } },
    async (page) => {
      page.setDefaultTimeout(60_000);
      await rows(page).first().waitFor();
      await openFirst(page);
      const strip = page.getByRole("slider", { name: "Outline of the transcript" });
      await strip.waitFor();
      assert.ok((await strip.locator("*").count()) < 20);
      const { x, y, width, height } = await strip.boundingBox();
      const begun = Date.now();
      await page.mouse.click(x + width / 2, y + height / 2);
      await page
        .getByText(/^(question|say) 2[45]\d{3}$/)
        .first()
        .waitFor();
      assert.ok(Date.now() - begun < 5_000, `${Date.now() - begun} ms`);
      await page.keyboard.press("x");
      await page.getByText("Failure 1 of 1, step 100,001").waitFor();
    },
  ));

test("] and [ go to the next and previous run that failed", () =>
  onPage(browser, {}, async (page) => {
    await rows(page).first().waitFor();
    await page.getByTestId("filter").fill("state:answered,error");
    await page.waitForFunction(() => location.hash.includes("error"));
    await page.getByTestId("total").waitFor();
    await openFirst(page);
    const run = () => page.evaluate(() => location.hash.split("?")[0]);
    const seen = [];
    for (const key of ["]", "]", "["]) {
      const before = await run();
      await page.keyboard.press(key);
      await page.waitForFunction((last) => location.hash.split("?")[0] !== last, before);
      await page.getByTestId("step").first().waitFor();
      await page.locator(".wrong, .err, .part").first().waitFor();
      seen.push(await run());
    }
    assert.equal(seen[2], seen[0]);
    assert.notEqual(seen[1], seen[0]);
  }));

test("the sidebar shows the tree of forks, and the title what is shown", () => {
  const fork = (from, step) =>
    `conversation:\n${talk(0, 4)}answer: 7\nrun: { forked_from: { file: ${from}, step: ${step} } }\n`;
  const end = (rest) => NAME.replace(".yaml", `${rest}.yaml`);
  const files = {
    [NAME]: `conversation:\n${talk(0, 4)}answer: 7\n`,
    [end("-fork1")]: fork(NAME, 1),
    [end("-fork2")]: fork(end("-fork1"), 3),
  };
  return onPage(browser, { files }, async (page) => {
    await rows(page).nth(2).waitFor();
    assert.match(await page.title(), /^Runs – sample – Touchstone$/);
    await rows(page).locator("a").filter({ hasText: "count" }).first().click();
    const tree = page.getByTestId("lineage-tree");
    await tree.waitFor();
    assert.equal(await tree.locator("li").count(), 3);
    assert.match(await tree.innerText(), /…fork1[\s\S]*from step 2[\s\S]*…fork2[\s\S]*from step 4/);
    await accessible(page);
    const link = tree.getByRole("link").last();
    const to = await link.getAttribute("href");
    await link.click();
    await page.waitForFunction((hash) => location.hash.startsWith(hash), to);
    await tree.locator("[aria-current]").waitFor();
    assert.match(
      await page.title(),
      /^count variation 0 .*tool_calling · o1 – sample – Touchstone$/,
    );
  });
});

test("the expected value is green and what differs red, and both are named", () =>
  onPage(browser, {}, async (page) => {
    await rows(page).first().waitFor();
    await page.getByTestId("filter").fill("passed:no state:answered");
    await page.waitForFunction(() => location.hash.includes("passed"));
    await page.getByTestId("total").waitFor();
    await openFirst(page);
    const why = page.getByTestId("why");
    await why.waitFor();
    const colour = (locator) => locator.first().evaluate((one) => getComputedStyle(one).color);
    const [expected, got] = [
      await colour(why.locator(".expected")),
      await colour(why.locator(".got")),
    ];
    const channel = (text) => text.match(/\d+/g).map(Number);
    assert.ok(channel(expected)[1] > channel(expected)[0], `green: ${expected}`);
    assert.ok(channel(got)[0] > channel(got)[1], `red: ${got}`);
    await accessible(page);
    await page.keyboard.press("a");
    await page.getByTestId("answer-diff").getByText("− expected").waitFor();
    await accessible(page);
  }));

test("the palette finds actions by other words for them", () =>
  onPage(browser, { files: { [NAME]: LONG } }, async (page) => {
    await rows(page).first().waitFor();
    for (const [typed, title] of [
      ["shortcuts", "All keys"],
      ["csv", "Report"],
      ["export", "Report"],
      ["dark", "Theme: Dark"],
    ]) {
      await page.keyboard.press("Control+k");
      await page.keyboard.type(typed);
      await page
        .getByTestId("palette")
        .getByRole("option", { selected: true })
        .getByText(title, { exact: true })
        .waitFor();
      await page.keyboard.press("Escape");
    }
  }));

test("a page goes on by itself when its server came back", () =>
  onPage(
    browser,
    { files: { [NAME]: LONG }, mayFail: true },
    async (page, { stop, root, folder, url }) => {
      await rows(page).first().waitFor();
      await stop();
      await page.getByTestId("status").getByText("not connected").waitFor();
      writeFileSync(join(folder, "more-tool_calling-o1-variation0.yaml"), LONG);
      const again = await serve({ root, folder });
      try {
        assert.equal(new URL(again.url).port, new URL(url).port);
        await rows(page).nth(1).waitFor();
        await page
          .getByTestId("status")
          .getByText(/watching|polling/)
          .waitFor();
        // A reload is let in, too.
        await page.reload();
        await rows(page).nth(1).waitFor();
      } finally {
        await again.stop();
      }
    },
  ));

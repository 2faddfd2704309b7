// Sub-agents in a run and in a comparison: folding, links, find and the first difference.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { accessible, onPage, openBrowser, rows } from "./stage.mjs";

let browser;
before(async () => (browser = await openBrowser()));
after(() => browser.close());

const NAME = "scout<b>";
/** A session in which a sub-agent makes `calls` calls, the last with this query. */
function session(id, calls, last) {
  let parent = null;
  let at = 0;
  const line = (type, content, more = {}) => {
    const uuid = `${id}-${at++}`;
    const own = { parentUuid: parent, uuid, sessionId: id, isSidechain: false, type, ...more };
    parent = uuid;
    const model = type === "assistant" ? { model: "m-1", id: `i-${uuid}` } : {};
    const timestamp = "2026-01-02T03:04:05.000Z";
    return JSON.stringify({ ...own, timestamp, message: { role: type, content, ...model } });
  };
  const use = (call, name, input) => [{ type: "tool_use", id: call, name, input }];
  const result = (call) => [{ type: "tool_result", tool_use_id: call, content: "ok" }];
  const prompt = "Look for open tickets.";
  const main = [
    line("user", "Which tickets are open?"),
    line("assistant", use("c1", "Task", { prompt, subagent_type: NAME })),
  ];
  const outer = parent;
  parent = null;
  const side = { isSidechain: true };
  const inner = [line("user", prompt, side)];
  for (let call = 0; call < calls; call++) {
    const query = call === calls - 1 ? last : `query ${call}`;
    inner.push(line("assistant", use(`n${call}`, "Grep", { pattern: query }), side));
    inner.push(line("user", result(`n${call}`), side));
  }
  inner.push(line("assistant", [{ type: "text", text: "Deep inside: three." }], side));
  parent = outer;
  main.push(line("user", result("c1")), line("assistant", [{ type: "text", text: "Three." }]));
  return [...main.slice(0, 2), ...inner, ...main.slice(2), ""].join("\n");
}
const FILES = {
  "results/one.jsonl": session("one", 40, "state = 'open'"),
  "results/two.jsonl": session("two", 40, "closed is null"),
};

const hashOf = (page) => page.evaluate(() => location.hash);
async function openRun(page, name) {
  await rows(page).filter({ hasText: name }).first().locator("a").first().click();
  await page.getByTestId("step-group").waitFor();
}
const focused = (page) =>
  page.evaluate(() => Number(document.activeElement?.getAttribute("data-index") ?? -1));

test("a sub-agent is one line that opens in place, by mouse, keys, link and find", () =>
  onPage(browser, { files: FILES }, async (page) => {
    await openRun(page, "one");
    const group = page.getByTestId("step-group");
    assert.match(await group.innerText(), /scout<b>[\s\S]*Look for open tickets\.[\s\S]*42 steps/);
    const before = await page.getByTestId("step").count();
    assert.ok(before < 8, `${before} steps are shown`);
    await accessible(page);
    const index = Number(await page.locator("[data-index]:has(.group)").getAttribute("data-index"));
    await group.getByRole("button").click();
    await page.locator(`[data-index="${index + 1}"]`).waitFor();
    await accessible(page);
    await group.getByRole("button").click();
    await page.locator(`[data-index="${index + 1}"]`).waitFor({ state: "detached" });

    await page.keyboard.press("f");
    await page.locator(`[data-index="${index + 1}"]`).waitFor();
    await page.keyboard.press("j");
    await page.waitForFunction(
      (wanted) => document.activeElement?.getAttribute("data-index") === String(wanted),
      index + 1,
    );
    await page.keyboard.press("k");
    await page.keyboard.press("f");
    await page.locator(`[data-index="${index + 1}"]`).waitFor({ state: "detached" });

    await page.keyboard.press("Control+f");
    await page.getByTestId("find").getByRole("searchbox").fill("Deep inside");
    const found = page.locator(`[data-index="${index + 42}"]`);
    await found.waitFor();
    await page.keyboard.press("Escape");

    // The address follows what was found, after which nothing else changes it.
    await page.waitForFunction((step) => location.hash.endsWith(`?step=${step}`), index + 43);
    const hash = (await hashOf(page)).replace(/\?.*/, "");
    await page.evaluate((to) => history.replaceState(null, "", to), hash);
    await page.reload();
    await group.waitFor();
    await page.evaluate((to) => (location.hash = to), `${hash}?step=${index + 31}`);
    await page.waitForFunction(
      (wanted) => document.activeElement?.getAttribute("data-index") === String(wanted),
      index + 30,
    );
    assert.equal(await focused(page), index + 30);
  }));

test("the first difference of two runs is found within their sub-agents", () =>
  onPage(browser, { files: FILES }, async (page) => {
    await rows(page).first().waitFor();
    const ids = await page.evaluate(async () => {
      const sort = { column: "path", descending: false };
      const request = { filter: "", sort, span: { offset: 0, limit: 10 } };
      const reply = await fetch("/api/list_runs", {
        method: "POST",
        headers: { "content-type": "application/json", "x-touchstone": "1" },
        body: JSON.stringify({ request }),
      });
      return (await reply.json()).rows.map((row) => row.id);
    });
    assert.equal(ids.length, 2);
    await page.evaluate((hash) => (location.hash = hash), `#/compare?run=${ids.join("&run=")}`);
    await page.getByTestId("compare-fold").first().waitFor();
    await page.keyboard.press("d");
    await page.waitForFunction(() => document.activeElement?.hasAttribute("data-row"));
    const row = page.locator("[data-row]:focus");
    assert.match(await row.innerText(), /state = 'open'[\s\S]*closed is null/);
    assert.match(await row.locator("[role=rowheader]").innerText(), /level 2/);
    assert.equal(await page.getByTestId("compare-row").count(), 1, "nothing else differs");
    await accessible(page);
  }));

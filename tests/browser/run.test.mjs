// The page of one run: steps, answer, keys and hostile text.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { accessible, onPage, openBrowser, rows } from "./stage.mjs";

let browser;
before(async () => (browser = await openBrowser()));
after(() => browser.close());

const atRun = (page) => page.waitForFunction(() => location.hash.startsWith("#/run/"));

async function openFirst(page) {
  await rows(page).first().locator("a").first().click();
  await atRun(page);
}

for (const filter of [
  "system:tool_calling state:answered",
  "system:promptql state:answered",
  "state:error",
  "nudged:yes",
])
  test(`a run of the demo (${filter}) is readable and accessible`, () =>
    onPage(browser, {}, async (page) => {
      await rows(page).first().waitFor();
      await page.getByTestId("filter").fill(filter);
      await page.waitForFunction(
        (q) => location.hash.includes(encodeURIComponent(q).replaceAll("%20", "+")),
        filter,
      );
      await page.getByTestId("total").waitFor();
      await openFirst(page);
      await page.getByRole("main").first().waitFor();
      await page
        .getByText(/user|question|prompt/i)
        .first()
        .waitFor();
      await accessible(page);
    }));

test("the buttons of a run stand in sight in a narrow window, and its name is not cut for them", () =>
  onPage(browser, {}, async (page) => {
    await rows(page).first().waitFor();
    await page.getByTestId("filter").fill("task:churn-risk review:yes passed:no");
    await page.waitForFunction(() => location.hash.includes("passed"));
    await openFirst(page);
    await page.getByTestId("score-chip").waitFor();
    for (const width of [1000, 800, 620, 420]) {
      await page.setViewportSize({ width, height: 700 });
      for (const name of ["Transcript", "Answer", "raw", "details"]) {
        const { x, width: wide } = await page
          .locator(`main button:text-is("${name}")`)
          .first()
          .boundingBox();
        assert.ok(x >= 0 && x + wide <= width, `${name} at ${width}`);
      }
      assert.equal(
        await page.locator("main h1").evaluate((title) => title.scrollWidth > title.clientWidth),
        false,
        `the title at ${width}`,
      );
    }
  }));

const HOSTILE = `conversation:
  - user_message: "<script>window.pwned = 1</script>"
  - assistant_message: |
      <img src=x onerror="window.pwned = 2"><svg onload="window.pwned = 3"><iframe srcdoc="<script>parent.pwned = 4</script>"></iframe>

      [click](javascript:window.pwned=5) [data](data:text/html,<script>window.pwned=6</script>) <javascript:window.pwned=7>
      [away](https://example.com/ "title") ![picture](https://example.com/pixel.png) [file](file:///etc/passwd) [blank](about:blank)

      <a href="javascript:window.pwned=8" onclick="window.pwned=9">x</a> <style>* { display: none }</style>
      <meta http-equiv="refresh" content="0; url=https://example.com/"><base href="https://example.com/"><form action="https://example.com/"><button>x</button></form>

      | a | b |
      |---|---|
      | <img src=x onerror=window.pwned=10> | [x](vbscript:1) |

      &lt;script&gt;window.pwned=25&lt;/script&gt; &copy; &nosuch;

      $\\href{javascript:window.pwned=11}{x}$ {{constructor.constructor('window.pwned=12')()}}
  - tool_call:
      id: "\\"><script>window.pwned = 13</script>"
      name: "</span><script>window.pwned = 14</script>"
      params: { sql: "select '<script>window.pwned = 15</script>'", __proto__: { pwned: 16 } }
      result:
        - { "<img src=x onerror=window.pwned=18>": "<img src=x onerror=window.pwned=19>", b: "\\u001b]0;pwned\\u0007\\u202egnp" }
        - { "<img src=x onerror=window.pwned=18>": "javascript:window.pwned=20", b: 1 }
  - tool_call: { id: b, name: run_python, params: { code: "print('<img src=x onerror=window.pwned=22>')" }, error: "\\u001b[31m<b onmouseover=window.pwned=23>red</b>" }
  - error: "<script>window.pwned = 21</script>"
  - assistant_message: harmless end
answer: "<script>window.pwned = 24</script>"
`;

test("nothing in a transcript runs, loads, navigates or becomes markup", () =>
  onPage(
    browser,
    { files: { "hostile-tool_calling-o1-variation0.yaml": HOSTILE } },
    async (page, { url }) => {
      await rows(page).first().waitFor();
      await openFirst(page);
      await page.getByText("harmless end").first().waitFor();
      // Opens every fold, so that everything is rendered.
      for (const fold of await page.locator("main [aria-expanded=false], main summary").all())
        await fold.click({ timeout: 2_000 }).catch(() => undefined);
      const sinks =
        "#app script, #app iframe, #app object, #app embed, #app form[action], #app " +
        "base, #app meta, #app style, #app img[src^='http'], #app [onerror], #app " +
        "[onload], #app [onclick], #app [onmouseover]";
      assert.equal(await page.locator(sinks).count(), 0);
      const hrefs = await page
        .locator("#app a[href]")
        .evaluateAll((links) => links.map((link) => link.getAttribute("href")));
      assert.deepEqual(
        hrefs.filter((href) => !href.startsWith("#") && !/^(https?|mailto):/.test(href)),
        [],
      );
      const text = await page.locator("#app").innerText();
      for (const shown of ["<script>window.pwned = 1</script>", "onerror"])
        assert.ok(text.includes(shown), `${shown} is shown as text`);
      assert.ok(
        !/[\u202e\u001b\u0007]/.test(text),
        "control and direction marks are shown as escapes",
      );
      for (const link of await page.locator("main a").all()) {
        if (!(await link.getAttribute("href").catch(() => null))?.startsWith("#"))
          await link.click({ timeout: 1_000 }).catch(() => undefined);
        await page.keyboard.press("Escape");
      }
      assert.equal(new URL(page.url()).origin, new URL(url).origin);
      assert.equal(await page.evaluate(() => window.pwned ?? Object.prototype.pwned ?? null), null);
      assert.ok(!(await page.title()).includes("pwned"));
    },
  ));

test("a run that grows is shown as it grows", () =>
  onPage(
    browser,
    {
      files: { "live-tool_calling-o1-variation0.yaml": "conversation:\n  - user_message: begin\n" },
    },
    async (page, { folder }) => {
      const { appendFileSync } = await import("node:fs");
      await rows(page).first().waitFor();
      await openFirst(page);
      await page.getByText("begin").first().waitFor();
      appendFileSync(
        `${folder}/live-tool_calling-o1-variation0.yaml`,
        "  - assistant_message: and here is the middle\n",
      );
      await page.getByText("and here is the middle").first().waitFor();
    },
  ));

/** A run of `messages` messages, one of which has a line of `bytes` bytes. */
function endless(messages, bytes) {
  const lines = ["conversation:\n"];
  for (let at = 0; at < messages; at++)
    lines.push(
      at === 1
        ? `- assistant_message: ${"word ".repeat(bytes / 5)}\n`
        : at % 2
          ? `- assistant_message: answer ${at}\n`
          : `- user_message: question ${at}\n`,
    );
  return lines.join("");
}

test("of a hundred thousand messages and a line of ten megabytes only what is in sight is drawn, wherever one goes", () =>
  onPage(
    browser,
    { files: { "endless-tool_calling-o1-variation0.yaml": endless(100_000, 10_000_000) } },
    async (page) => {
      page.setDefaultTimeout(60_000);
      await rows(page).first().waitFor();
      await openFirst(page);
      const drawn = () => page.getByTestId("step").count();
      const few = async (where) => {
        const [steps, all] = [await drawn(), await page.locator("#app *").count()];
        assert.ok(
          steps > 0 && steps < 100 && all < 5_000,
          `${where}: ${steps} steps and ${all} elements are drawn`,
        );
      };
      await page.getByText("question 0", { exact: true }).waitFor();
      await few("at the beginning");
      const long = page.locator("[data-index='1']");
      await long.getByRole("button", { name: /^show all \(/ }).click();
      await long.locator(".lines .row").nth(1).waitFor();
      await few("with the long line open");
      await page.getByTestId("transcript").hover({ position: { x: 200, y: 10 } });
      await page.keyboard.press("G");
      await page.getByText("answer 99999", { exact: true }).waitFor();
      await few("at the end");
      await page.keyboard.press("Control+f");
      await page.keyboard.type("question 51234");
      await page
        .locator("[data-index='51234']")
        .getByText("question 51234", { exact: true })
        .waitFor();
      await few("in the middle");
    },
  ));

test("each turn has its time beside the transcript, and leads to it", () => {
  const turn = (at) =>
    `- user_message: ask ${at}\n- assistant_message: say ${at}\n` +
    `  seconds: ${at}.5\n- tool_call: { id: t${at}, name: look, params: { at: ` +
    `${at} }, result: "${"found ".repeat(400)}", seconds: 0.25 }\n`;
  const files = {
    "timed-tool_calling-o1-variation0.yaml": `conversation:\n${Array.from({ length: 9 }, (_, i) => turn(i + 1)).join("")}`,
  };
  return onPage(browser, { files }, async (page) => {
    await rows(page).first().waitFor();
    await openFirst(page);
    await page.getByTestId("pace").getByText("model 49.5 s, tools 2.3 s").waitFor();
    await accessible(page);
    await page.getByRole("button", { name: "Step 26, turn 18: model 9.5 s, tools 250 ms" }).click();
    await page.waitForFunction(() => location.hash.includes("step="));
    await page.getByText("say 9", { exact: true }).waitFor();
  });
});

// The first start: start screen, settings, keys and sign-in.
import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { accessible, folderWith, onPage, openBrowser, ROOT, rows, serve } from "./stage.mjs";

const FIXTURES = join(ROOT, "src-tauri/imports/tests/fixtures");

let browser;
before(async () => (browser = await openBrowser()));
after(() => browser.close());

test("the start screen offers the demo, and the demo opens on the overview", () =>
  onPage(browser, { start: true, args: ["--allow-run"] }, async (page) => {
    await accessible(page);
    await page.getByTestId("open-demo").click();
    await page.waitForURL(/#\/overview$/);
    await page.getByTestId("headline").waitFor();
  }));

test("a page without an address opens on the overview, and older links on the list", () =>
  onPage(browser, { at: "" }, async (page) => {
    await page.waitForURL(/#\/overview$/);
    await page.getByTestId("overview-row").first().waitFor();
    await page.evaluate(() => (location.hash = "#/?q=state:error"));
    await rows(page).first().waitFor();
    await page.goBack();
    await page.waitForURL(/#\/overview$/);
  }));

for (const colorScheme of ["light", "dark"])
  test(`checkboxes and radio buttons are drawn by the page, unchecked ones empty, in ${colorScheme}`, () =>
    onPage(browser, { args: ["--allow-run"] }, async (page) => {
      await page.emulateMedia({ colorScheme });
      for (const place of ["settings", "launch?system=tool_calling", "report"]) {
        await page.evaluate((hash) => (location.hash = hash), `#/${place}`);
        await page.locator("input[type=checkbox], input[type=radio]").first().waitFor();
        const looks = await page
          .locator("input[type=checkbox], input[type=radio]")
          .evaluateAll((all) =>
            all.map((one) => ({
              checked: one.checked,
              appearance: getComputedStyle(one).appearance,
              mark: getComputedStyle(one, "::before").transform === "none",
            })),
          );
        assert.ok(looks.length > 1, place);
        for (const look of looks) {
          assert.equal(look.appearance, "none", place);
          assert.equal(look.mark, look.checked, place);
        }
        await accessible(page);
      }
    }));

test("the drawn text of a long filter scrolls with the field, which is wider while it is edited", () =>
  onPage(browser, {}, async (page) => {
    const filter = page.getByTestId("filter");
    await filter.waitFor();
    const before = (await filter.boundingBox()).width;
    await filter.fill(`${"model:o1 state:answered ".repeat(6)}task:churn-risk`);
    await filter.focus();
    await page.keyboard.press("End");
    await page.waitForFunction(() => document.querySelector("[data-testid=filter]").scrollLeft > 0);
    await page.waitForFunction(() => {
      const field = document.querySelector("[data-testid=filter]");
      const drawn = new DOMMatrix(getComputedStyle(field.previousElementSibling).transform).m41;
      return Math.abs(field.scrollLeft + drawn) < 1;
    });
    assert.ok((await filter.boundingBox()).width > before);
    await page.keyboard.press("Home");
    await page.waitForFunction(() => {
      const field = document.querySelector("[data-testid=filter]");
      const drawn = new DOMMatrix(getComputedStyle(field.previousElementSibling).transform).m41;
      return field.scrollLeft === 0 && drawn === 0;
    });
  }));

/** A home folder with these files: copies of fixtures, or for `null` anything. */
function homeWith(files) {
  const home = mkdtempSync(join(tmpdir(), "touchstone-home-"));
  for (const [name, fixture] of Object.entries(files)) {
    const path = join(home, name);
    mkdirSync(dirname(path), { recursive: true });
    if (fixture === null) writeFileSync(path, "not read");
    else cpSync(join(FIXTURES, fixture), path);
  }
  return home;
}

test("results of other tools are offered by their names, and one click opens them", async () => {
  const home = homeWith({
    ".claude/projects/-work/0a1b.jsonl": "claude_code/session.jsonl",
    ".codex/sessions/2026/01/02/rollout-1.jsonl": null,
    ".gemini/tmp/abc/chats/session-1.json": null,
    "runs/a.eval": null,
    "runs/b.eval": null,
  });
  const env = {
    HOME: home,
    INSPECT_LOG_DIR: join(home, "runs"),
    CLAUDE_CONFIG_DIR: "",
    CODEX_HOME: "",
  };
  try {
    await onPage(browser, { start: true, args: ["--allow-run"], env }, async (page) => {
      const offers = page.getByTestId("found").getByRole("button");
      await offers.first().waitFor();
      const texts = await offers.allInnerTexts();
      const flat = texts.map((text) => text.replaceAll(/\s+/g, " ").trim());
      assert.deepEqual(flat, [
        `Claude Code ${home}/.claude/projects 1 session`,
        `Codex ${home}/.codex/sessions 1 session`,
        `Gemini CLI ${home}/.gemini/tmp 1 session`,
        `Inspect ${home}/runs 2 logs`,
      ]);
      await accessible(page);
      await offers.first().click();
      await rows(page).first().waitFor();
      assert.equal(await rows(page).count(), 1);
    });
    // A read-only page is offered nothing.
    await onPage(browser, { start: true, env }, async (page) => {
      await page.getByRole("link", { name: /^Read the five-minute guide/ }).waitFor();
      assert.equal(await page.getByTestId("found").count(), 0);
    });
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});

test("a file that is opened from a terminal shows its only run, and back leads to the list", () => {
  const prepare = (folder) => {
    const at = (name) => join(FIXTURES, name);
    cpSync(at("promptfoo/results.json"), join(folder, "results.json"));
    cpSync(at("claude_code/session.jsonl"), join(folder, "session.jsonl"));
  };
  const options = { files: {}, prepare, command: "open", open: "results.json" };
  return onPage(browser, options, async (page) => {
    await page.waitForURL(/#\/run\/[0-9a-f]+\?q=file%3Aresults.json$/);
    await page.keyboard.press("Escape");
    await page.waitForURL(/#\/runs\?q=file%3Aresults.json$/);
    await rows(page).first().waitFor();
    assert.equal(await rows(page).count(), 1);
  });
});

test("a file that holds no run says why", () => {
  const options = { files: { "notes.txt": "x" }, command: "open", open: "notes.txt" };
  return onPage(browser, options, async (page) => {
    await page.waitForURL(/#\/run\//);
    await page.getByText("Not a kind of file that is read;").first().waitFor();
  });
});

test("a file that is dropped on a served page is refused with the command that opens it", () =>
  onPage(browser, {}, async (page) => {
    await rows(page).first().waitFor();
    await page.evaluate(() => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(["x"], "x.eval"));
      const event = (kind) =>
        new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true });
      for (const kind of ["dragover", "drop"]) document.body.dispatchEvent(event(kind));
    });
    await page.getByText("A page in a browser cannot see where a dropped file lies.").waitFor();
    await page.getByText("touchstone open PATH").waitFor();
    await accessible(page);
  }));

test("the token leaves the address and is used up; another browser needs another address", async () => {
  const place = folderWith({ "a.txt": "" });
  const server = await serve(place);
  const mine = await browser.newContext();
  const other = await browser.newContext();
  try {
    const page = await mine.newPage();
    await page.goto(server.url);
    assert.equal(new URL(page.url()).search, "");
    const stranger = await other.newPage();
    for (const address of [new URL("/", server.url).href, server.url])
      assert.equal((await stranger.goto(address)).status(), 401);
    assert.equal((await stranger.goto(server.another())).status(), 200);
    const seen = await page.evaluate(
      () => document.cookie + JSON.stringify({ ...localStorage, ...sessionStorage }),
    );
    assert.ok(!seen.includes("touchstone_"), "the page cannot read its cookie");
    await page.reload();
    await page.locator("#app *").first().waitFor();
  } finally {
    await mine.close();
    await other.close();
    await server.stop();
    place.remove();
  }
});

test(`settings are accessible`, () =>
  onPage(browser, { start: true }, async (page) => {
    await page.evaluate(() => (location.hash = "#/settings"));
    await page.getByRole("main").first().waitFor();
    await accessible(page);
  }));

test(`settings of an open folder name its folders and limits, and are accessible`, () =>
  onPage(
    browser,
    { args: ["--allow-run"], viewport: { width: 800, height: 820 } },
    async (page, { folder }) => {
      await rows(page).first().waitFor();
      await page.evaluate(() => (location.hash = "#/settings"));
      await page.getByTestId("limits").getByText("Concurrency", { exact: true }).waitFor();
      assert.ok((await page.getByTestId("folders").innerText()).includes(`${folder}/results`));
      await accessible(page);
    },
  ));

test(`the guide is read before anything is open, leads back and forth, and is accessible`, () =>
  onPage(
    browser,
    { start: true, args: ["--allow-run"], viewport: { width: 800, height: 820 } },
    async (page) => {
      await page.getByRole("link", { name: /^Read the five-minute guide/ }).click();
      await page.getByRole("heading", { name: "The first five minutes" }).waitFor();
      await accessible(page);
      await page.getByRole("link", { name: "Open the demo or a folder" }).click();
      await page.getByTestId("open-demo").click();
      await page.getByTestId("overview-row").first().waitFor();
      await page.keyboard.press("g");
      await page.keyboard.press("h");
      await page.getByRole("link", { name: "New launch" }).waitFor();
      await accessible(page);
      await page.getByRole("link", { name: "Overview" }).last().click();
      await page.getByTestId("overview-row").first().waitFor();
      await page.goBack();
      await page.getByRole("heading", { name: "The first five minutes" }).waitFor();
      await page.keyboard.press("Escape");
      await page.getByTestId("overview-row").first().waitFor();
    },
  ));

test("a question mark shows all keys, Ctrl-K all actions, Escape closes both", () =>
  onPage(browser, { start: true, args: ["--allow-run"] }, async (page) => {
    await page.getByTestId("open-demo").waitFor();
    for (const [key, dialog] of [
      ["?", "key-sheet"],
      ["Control+k", "palette"],
    ]) {
      await page.keyboard.press(key);
      await page.getByTestId(dialog).waitFor();
      await accessible(page);
      await page.keyboard.press("Escape");
      await page.getByTestId(dialog).waitFor({ state: "detached" });
    }
  }));

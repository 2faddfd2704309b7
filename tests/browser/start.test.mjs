// The first start: start screen, settings, keys and sign-in.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { accessible, folderWith, onPage, openBrowser, rows, serve } from "./stage.mjs";

let browser;
before(async () => (browser = await openBrowser()));
after(() => browser.close());

test("the start screen offers the demo, and the demo opens as a list of runs", () =>
  onPage(browser, { start: true, args: ["--allow-run"] }, async (page) => {
    await accessible(page);
    await page.getByTestId("open-demo").click();
    await rows(page).first().waitFor();
    await page.waitForURL(/#\/runs$/);
    assert.ok((await rows(page).count()) > 10);
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
    assert.equal((await stranger.goto(await server.another())).status(), 200);
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
      await page.getByRole("link", { name: "Open a folder" }).click();
      await page.getByTestId("open-demo").click();
      await rows(page).first().waitFor();
      await page.keyboard.press("g");
      await page.keyboard.press("h");
      await page.getByRole("link", { name: "New launch" }).waitFor();
      await accessible(page);
      await page.getByRole("link", { name: "Overview" }).last().click();
      await page.getByTestId("overview-row").first().waitFor();
      await page.goBack();
      await page.getByRole("heading", { name: "The first five minutes" }).waitFor();
      await page.keyboard.press("Escape");
      await rows(page).first().waitFor();
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

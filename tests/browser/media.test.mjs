// Images and files in a transcript: shown and saved when someone asks for it.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { accessible, onPage, openBrowser, rows } from "./stage.mjs";

let browser;
before(async () => (browser = await openBrowser()));
after(() => browser.close());

/** A red square of 40 by 40 pixels. */
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAACgAAAAoCAIAAAADnC86AAAAL0lEQVR42u3NMQ0AAAgDsMmZfxXIwgQJT5P+zbQvIh" +
  "aLxWKxWCwWi8VisVgsFt9ZvKLWWwDl4pwAAAAASUVORK5CYII=";

/** A session whose first message holds an image with this content. */
function session(data, type) {
  const own = { sessionId: "s1", isSidechain: false, timestamp: "2026-02-01T10:00:00.000Z" };
  const image = { type: "image", source: { type: "base64", media_type: type, data } };
  const content = [{ type: "text", text: "What is this?" }, image];
  const reply = { role: "assistant", model: "m-1", content: [{ type: "text", text: "A square." }] };
  return [
    { ...own, type: "user", uuid: "u1", parentUuid: null, message: { role: "user", content } },
    { ...own, type: "assistant", uuid: "u2", parentUuid: "u1", message: reply },
  ]
    .map((record) => `${JSON.stringify(record)}\n`)
    .join("");
}
const openRun = (page, name) => rows(page).filter({ hasText: name }).locator("a").first().click();
const MARKUP = "<svg xmlns='http://www.w3.org/2000/svg' onload='parent.document.title=1'/>";
/** The header of an image of 20,000 by 20,000 pixels. */
const HUGE = Buffer.concat([
  Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"),
  Buffer.from("00004e2000004e200802000000", "hex"),
]).toString("base64");
const files = {
  "results/huge.jsonl": session(HUGE, "image/png"),
  "results/one.jsonl": session(PNG, "image/png"),
  "results/two.jsonl": session(Buffer.from(MARKUP).toString("base64"), "image/svg+xml"),
};

test("an image is shown and saved when someone asks for it", () =>
  onPage(browser, { files }, async (page) => {
    await openRun(page, "one");
    const show = page.getByRole("button", { name: "Show" });
    await show.waitFor();
    assert.equal(await page.locator("img").count(), 0);
    await show.click();
    const image = page.locator("img");
    await image.waitFor();
    assert.equal(await image.evaluate((one) => one.naturalWidth), 40);
    await accessible(page);
    const saved = page.waitForEvent("download");
    await page.getByRole("button", { name: "Save…" }).click();
    const file = await saved;
    assert.equal(file.suggestedFilename(), "step-1.png");
    assert.equal(readFileSync(await file.path()).toString("base64"), PNG);
    await page.getByText("step-1.png is in your downloads.").waitFor();
    await page.getByRole("button", { name: "Hide" }).click();
    await image.waitFor({ state: "detached" });
  }));

test("markup that is called an image is not shown", () =>
  onPage(browser, { files }, async (page) => {
    await openRun(page, "two");
    await page.getByRole("button", { name: "Show" }).click();
    await page.getByText("This image cannot be shown here.").waitFor();
    assert.equal(await page.locator("img").count(), 0);
  }));

test("an image that needs too much memory is saved and not shown", () =>
  onPage(browser, { files }, async (page) => {
    await openRun(page, "huge");
    await page.getByRole("button", { name: "Show" }).click();
    await page.getByText("20000 × 20000 pixels").waitFor();
    assert.equal(await page.locator("img").count(), 0);
    const saved = page.waitForEvent("download");
    await page.getByRole("button", { name: "Save…" }).click();
    assert.equal((await saved).suggestedFilename(), "step-1.png");
  }));

// Reports as they are kept: read without Touchstone, and printed.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { folderWith, openBrowser, ROOT } from "./stage.mjs";

let browser;
before(async () => (browser = await openBrowser()));
after(() => browser.close());

test("what is folded on a screen is there in print", async () => {
  const place = folderWith();
  try {
    const env = { ...process.env, TOUCHSTONE_CACHE_DIR: join(place.root, "cache"), TOUCHSTONE_STATE_DIR: join(place.root, "state") };
    const html = execFileSync(join(ROOT, "target/debug/touchstone"), ["report", place.folder, "--format", "html", "--out", "-"], { env, encoding: "utf8", maxBuffer: 64 << 20 });
    const page = await browser.newPage();
    await page.setContent(html);
    const folded = page.locator("details:not([open]) td").first();
    const height = () => folded.evaluate((cell) => (cell.checkVisibility({ contentVisibilityAuto: true }) ? cell.getBoundingClientRect().height : 0));
    assert.equal(await height(), 0);
    await page.emulateMedia({ media: "print" });
    assert.ok((await height()) > 0);
    await page.close();
  } finally {
    place.remove();
  }
});

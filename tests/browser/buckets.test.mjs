// Results in a bucket: the page shows its runs and what came later, says how it stands, and offers
// nothing that writes.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { onPage, openBrowser, rows } from "./stage.mjs";

let browser;
before(async () => (browser = await openBrowser()));
after(() => browser.close());

const RUN = "conversation:\n- user_message: Hello\n- assistant_message: Fine\nanswer: Fine\n";
const escaped = (text) => encodeURIComponent(text);

/** A bucket of objects by key; `down` makes every request fail. */
async function openBucket(objects) {
  const bucket = { objects, down: null };
  const server = createServer((request, response) => {
    const url = new URL(request.url, "http://s3");
    if (bucket.down !== null) {
      response.writeHead(bucket.down).end("<Error><Code>SlowDown</Code></Error>");
      return;
    }
    if (!url.searchParams.has("list-type")) {
      const text = bucket.objects[decodeURIComponent(url.pathname).replace("/bucket/", "")];
      response.writeHead(text === undefined ? 404 : 200).end(text);
      return;
    }
    const [prefix, after, grouped] = ["prefix", "start-after", "delimiter"].map(
      (name) => url.searchParams.get(name) ?? "",
    );
    const keys = Object.keys(bucket.objects)
      .filter((key) => key.startsWith(prefix) && key > after)
      .sort();
    const isDeep = (key) => grouped !== "" && key.slice(prefix.length).includes("/");
    const folders = new Set(
      keys.filter(isDeep).map((key) => `${prefix}${key.slice(prefix.length).split("/")[0]}/`),
    );
    const contents = keys
      .filter((key) => !isDeep(key))
      .map((key) => {
        const { length } = bucket.objects[key];
        return `<Contents><Key>${escaped(key)}</Key><Size>${length}</Size><ETag>"${length}"</ETag><LastModified>2026-11-01T10:00:00.000Z</LastModified></Contents>`;
      });
    const grouping = [...folders].map(
      (key) => `<CommonPrefixes><Prefix>${escaped(key)}</Prefix></CommonPrefixes>`,
    );
    response.end(
      `<ListBucketResult><EncodingType>url</EncodingType>${contents.join("")}${grouping.join("")}<IsTruncated>false</IsTruncated></ListBucketResult>`,
    );
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  bucket.env = {
    AWS_ACCESS_KEY_ID: "id",
    AWS_SECRET_ACCESS_KEY: "canary-secret",
    AWS_ENDPOINT_URL: `http://127.0.0.1:${server.address().port}`,
    AWS_PROFILE: "",
  };
  bucket.close = () => (server.closeAllConnections(), server.close());
  return bucket;
}

test("a served bucket shows its runs, follows them, and says how it stands", async () => {
  const bucket = await openBucket({
    "team/t-tool_calling-o1-variation0.yaml": RUN,
    "team/t-tool_calling-o3-variation0.yaml": RUN,
    "team/../evil.yaml": RUN,
  });
  const options = { start: true, args: ["s3://bucket/team"], env: bucket.env, at: "#/runs" };
  try {
    await onPage(browser, options, async (page) => {
      await rows(page).nth(1).waitFor();
      const note = page.getByTestId("bucket");
      await note.getByText(/checked \d+ s ago/).waitFor();
      bucket.objects["team/t-tool_calling-new-variation0.yaml"] = RUN;
      await rows(page).nth(2).waitFor();
      bucket.down = 403;
      await note.getByText(/denied/).waitFor();
      assert.equal(await rows(page).count(), 3);
      await page.goto(page.url().replace(/#.*/, "#/problems"));
      await page.getByText("Not copied", { exact: true }).waitFor();
      assert.ok(!(await page.content()).includes("canary"));
    });
  } finally {
    bucket.close();
  }
});

test("a bucket is opened from the start page, and a mistake is a sentence there", async () => {
  const bucket = await openBucket({ "team/t-tool_calling-o1-variation0.yaml": RUN });
  const options = { start: true, args: ["--allow-run"], env: bucket.env, mayFail: true };
  try {
    await onPage(browser, options, async (page) => {
      const field = page.getByLabel("Bucket");
      await field.fill("s3://me:canary@bucket/team");
      await field.press("Enter");
      await page.getByText("was not used").waitFor();
      await field.fill("s3://bucket/team");
      await field.press("Enter");
      await page.getByTestId("bucket").waitFor();
      // Opening ends on a place of its own.
      await page.waitForFunction(() => /#\/(overview|runs)/.test(location.hash));
      await page.evaluate(() => (location.hash = "#/runs"));
      await rows(page).first().waitFor();
    });
  } finally {
    bucket.close();
  }
});

// Launches from the page against the real engine: plan, progress, stop, resume, fork, and read-only
// pages.
import assert from "node:assert/strict";
import { cpSync, existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { calls, openProvider, says } from "./provider.mjs";
import { ROOT, accessible, onPage, openBrowser, rows } from "./stage.mjs";

let browser;
before(async () => (browser = await openBrowser()));
after(() => browser.close());

const MAY = ["--allow-run"];
const TASK =
  "tool_calling_prompt: How many {what} are there?\nvariations:\n  - what: users\n  - what: tickets\n  - what: comments\n";
const FIRST = "results/count-tool_calling-slow-variation0.yaml";
const lastOf = (asked) => asked.messages.at(-1);
/** One tool call, then an answer; a later message gets its own answer. */
const usual = (asked) =>
  lastOf(asked).role === "tool"
    ? says('There are many.\n\n```json\n[{"n": 13}]\n```')
    : asked.messages.length > 2
      ? says(`You said: ${lastOf(asked).content}`)
      : calls("query_support_tickets", "SELECT count(*) AS n FROM users");

/** A page on a folder with one task and a model whose replies the test controls. */
async function onSlow(
  test,
  { reply = usual, files = {}, args = MAY, env, concurrency = 1, key = "", other = false } = {},
) {
  const provider = await openProvider(reply);
  const model = `{ provider: openai, base_url: '${provider.url}', model: NAME, price: { input: 1, output: 10 }${key && `, api_key_env: ${key}`} }`;
  const workspace =
    `input_dir: tasks\noutput_dir: results\nmodels:\n` +
    `  slow: ${model.replace("NAME", "slow-1")}\n` +
    (other ? `  quick: ${model.replace("NAME", "quick-1")}\n` : "") +
    `tools:\n  query_support_tickets: { kind: sql, database: ` +
    `'sqlite:data/support.db' }\nrun: { concurrency: ${concurrency} }\n`;
  const prepare = (folder) =>
    cpSync(join(ROOT, "demo/data"), join(folder, "data"), { recursive: true });
  try {
    await onPage(
      browser,
      {
        files: {
          "touchstone.yaml": workspace,
          "tasks/count.yaml": TASK,
          "results/note.txt": "",
          ...files,
        },
        prepare,
        args,
        env,
      },
      // A server ends only when its calls have ended, also after a test that failed.
      (page, at) => test(page, { ...at, provider }).finally(provider.release),
    );
  } finally {
    await provider.close();
  }
}

const sheet = (page, asked) => page.evaluate((hash) => (location.hash = hash), `#/launch?${asked}`);
const run = (page) => page.getByTestId("run");
const state = (page, word) =>
  page.waitForFunction(
    (wanted) => document.querySelector("[data-testid=launch-state]")?.textContent === wanted,
    word,
  );
const figures = (page) => page.getByTestId("summary").innerText();
/** Starts the planned launch and opens its progress page. */
async function launch(page, asked) {
  await sheet(page, asked);
  await run(page).and(page.locator(":enabled")).click();
  await page.waitForFunction(() => location.hash.startsWith("#/launch/"));
}
const SLOW = "system=tool_calling&model=slow";
const ONE = `${SLOW}&variation=0`;
const palette = async (page, words) => {
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Find an action or a run" }).fill(words);
  await page
    .getByRole("option", { name: new RegExp(words, "i") })
    .first()
    .waitFor();
};

test(`the sheet shows the matrix, what is owed, what is skipped and why, and an estimate, then runs it`, () =>
  onPage(browser, { args: MAY }, async (page) => {
    await rows(page).first().waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("n");
    await page.getByText("The plan is shown here").waitFor();
    assert.ok(await run(page).isDisabled());
    await accessible(page);
    await page.getByRole("checkbox", { name: /^tool_calling the/ }).check();
    await page.getByRole("checkbox", { name: /^o3-mini/ }).waitFor();
    // The key is not set, and the form says so; complete runs need no key.
    assert.match(
      await page.getByRole("group", { name: "Models" }).innerText(),
      /OPENAI_API_KEY is not set/,
    );
    await page.getByRole("checkbox", { name: /^replay/ }).check();
    await run(page).and(page.locator(":enabled")).waitFor();
    assert.match(await page.getByTestId("plan").innerText(), /It has not run yet/);
    assert.match(await page.getByTestId("plan").innerText(), /recording/);
    assert.match(await page.getByTestId("estimate").innerText(), /No API calls/);
    await accessible(page);
    await run(page).click();
    await state(page, "Done");
    await page.getByTestId("launch-run").first().waitFor();
    await accessible(page);
    assert.match(await figures(page), /11 of 11/);
    await page.goBack();
    await page.getByText("Nothing to run").waitFor();
    assert.match(await page.getByTestId("plan").innerText(), /complete/i);
  }));

test("a run is shown as it goes on: in the launch, in its own page without drawing it anew, and in the list", () =>
  onSlow(async (page, { provider }) => {
    provider.hold();
    await launch(page, ONE);
    await state(page, "Running");
    await provider.until(1);
    await page.getByTestId("launch-run").getByText("waiting for the model").waitFor();
    await page.getByTestId("launch-run").first().getByRole("link").click();
    await page.waitForFunction(() => location.hash.startsWith("#/run/"));
    await page.getByText("How many users are there?").first().waitFor();
    assert.match(await page.getByTestId("run-working").innerText(), /Running/);
    await page
      .getByTestId("step")
      .first()
      .evaluate((step) => (step.markedByTest = true));
    provider.step();
    await provider.until(2);
    await page.getByText("query_support_tickets").first().waitFor();
    await page.getByText("Let me look.").first().waitFor();
    await accessible(page);
    provider.release();
    await page.getByText("There are many.").first().waitFor();
    await page.getByTestId("run-working").waitFor({ state: "detached" });
    assert.equal(
      await page
        .getByTestId("step")
        .first()
        .evaluate((step) => step.markedByTest),
      true,
      "the first step was drawn once",
    );
    await page.keyboard.press("Escape");
    await page.evaluate(() => (location.hash = "#/runs"));
    await rows(page).first().getByText("Answered").waitFor();
  }));

test("Stop lets the call in flight be saved, Resume goes on from there, and nothing is paid for twice", () =>
  onSlow(async (page, { provider, folder }) => {
    provider.hold();
    await launch(page, SLOW);
    await provider.until(1);
    await page.getByRole("button", { name: /^Stop/ }).click();
    await state(page, "Stopping");
    await page.getByRole("button", { name: /^Stop now/ }).waitFor();
    await accessible(page);
    provider.release();
    await state(page, "Stopped");
    assert.equal(provider.asked.length, 1);
    assert.match(readFileSync(join(folder, FIRST), "utf8"), /tool_call/);
    await page.getByRole("button", { name: "Resume 3 runs" }).click();
    await state(page, "Done");
    assert.match(await figures(page), /3 of 3/);
    assert.equal(provider.asked.length, 6, "two calls a run");
  }));

test("Stop now waits for nobody, and what was stopped goes on later", () =>
  onSlow(async (page, { provider }) => {
    provider.hold();
    await launch(page, ONE);
    await provider.until(1);
    // The provider may receive the request before the page knows that a run is active, and only
    // active runs can be stopped.
    await state(page, "Running");
    await page.keyboard.press("Shift+S");
    await state(page, "Stopping");
    await page.keyboard.press("Shift+S");
    await state(page, "Stopped");
    provider.release();
    await page.keyboard.press("Shift+R");
    await state(page, "Done");
    assert.match(await figures(page), /1 of 1/);
  }));

test("a run that failed says why, and Retry goes on from the error", () => {
  let broken = true;
  return onSlow(
    async (page) => {
      await launch(page, ONE);
      await state(page, "Done");
      await page.getByTestId("launch-run").getByText("Error", { exact: true }).waitFor();
      assert.match(await page.getByTestId("launch-run").innerText(), /no such thing/);
      await accessible(page);
      broken = false;
      await page.getByRole("button", { name: "Retry 1 run" }).click();
      await page.getByTestId("launch-run").getByText("Answered").waitFor();
    },
    {
      reply: (asked) => (broken ? { status: 400, error: "There is no such thing." } : usual(asked)),
    },
  );
});

const ANSWERED =
  "conversation:\n  - user_message: How many users are there?\n  - assistant_message: Thirteen.\n";
const openFirst = async (page, may = true) => {
  await rows(page).first().locator("a").first().click();
  await page.waitForFunction(() => location.hash.startsWith("#/run/"));
  await page.getByText("Thirteen.").first().waitFor();
  // The page first asks whether launching is allowed.
  if (may) await page.getByTestId("write").and(page.locator(":enabled")).waitFor();
};

test("a message to a finished run goes to a fork at whose end one is, and both name each other", () =>
  onSlow(
    async (page, { provider, folder }) => {
      await openFirst(page);
      const original = await page.evaluate(() => location.hash.split("?")[0]);
      await page.keyboard.press("n");
      await page.keyboard.type("Are you sure?");
      await page.keyboard.press("Control+Enter");
      await page.getByText("You said: Are you sure?").first().waitFor();
      assert.deepEqual(
        provider.asked[0].messages.slice(-2).map((message) => message.content),
        ["Thirteen.", "Are you sure?"],
      );
      await page.waitForFunction((before) => location.hash.split("?")[0] !== before, original);
      assert.equal(await page.getByTestId("write").inputValue(), "");
      const atEnd = () => {
        const box = document.querySelector("[data-testid='transcript']");
        return box !== null && box.scrollHeight - box.scrollTop - box.clientHeight < 60;
      };
      await page.waitForFunction(atEnd);
      assert.equal(readFileSync(join(folder, FIRST), "utf8"), ANSWERED);
      await accessible(page);
      await page.getByTestId("lineage").getByRole("link").first().click();
      await page.waitForFunction((before) => location.hash.split("?")[0] === before, original);
      await page.getByTestId("lineage").getByText("1 fork:").waitFor();
      await page.evaluate(() => (location.hash = "#/runs?q=forked%3Ayes"));
      await rows(page).first().getByText("fork", { exact: true }).waitFor();
      await page.evaluate(() => (location.hash = "#/overview"));
      await page.getByTestId("overview-sums").getByText("1 fork or follow-up left out").waitFor();
    },
    { files: { [FIRST]: ANSWERED } },
  ));

test("another branch from a step becomes a run of its own, and the original stays as it is", () =>
  onSlow(
    async (page, { provider, folder }) => {
      await openFirst(page);
      const original = await page.evaluate(() => location.hash);
      await page.getByTestId("step").first().focus();
      await page.keyboard.press("e");
      await page.getByText("Fork from step 1.").waitFor();
      assert.equal(await page.getByTestId("write").inputValue(), "How many users are there?");
      await accessible(page);
      await page.getByTestId("write").fill("How many tickets are there?");
      await page.getByRole("button", { name: "Run as a new run" }).click();
      await page.waitForFunction(
        (before) =>
          location.hash.startsWith("#/run/") &&
          location.hash.split("?")[0] !== before.split("?")[0],
        original,
      );
      await page.getByText("There are many.").first().waitFor();
      assert.equal(lastOf(provider.asked[0]).content, "How many tickets are there?");
      assert.equal(readFileSync(join(folder, FIRST), "utf8"), ANSWERED);
      assert.match(
        readFileSync(join(folder, FIRST.replace(".yaml", "-fork1.yaml")), "utf8"),
        /forked_from/,
      );
    },
    { files: { [FIRST]: ANSWERED } },
  ));

const CALLED =
  "conversation:\n  - user_message: How many users are there?\n" +
  "  - tool_call: { id: a, name: query_support_tickets, params: { sql: SELECT 13 AS n }, result: [{ n: 13 }], turn: 1 }\n" +
  "  - assistant_message: Thirteen.\nanswer: 13\n";

test("a run continues from a result that was edited, with another model, and is compared with the original", () =>
  onSlow(
    async (page, { provider, folder }) => {
      await openFirst(page);
      const original = await page.evaluate(() => location.hash.split("?")[0]);
      await page.getByTestId("step").nth(1).focus();
      await page.keyboard.press("e");
      await page.getByText("Fork from step 2.").waitFor();
      const field = page.getByTestId("write");
      assert.equal(await field.inputValue(), "SELECT 13 AS n");
      await page.getByRole("button", { name: "Result", exact: true }).press("Enter");
      assert.match(await field.inputValue(), /"n": 13/);
      await accessible(page);
      await page.setViewportSize({ width: 620, height: 800 });
      await accessible(page);
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.getByRole("combobox", { name: "Model", exact: true }).selectOption("quick");
      await page.getByLabel("Result", { exact: true }).and(field).fill('[{ "n": 70 }]');
      await page.keyboard.press("Control+Enter");
      await page.waitForFunction(
        (before) => location.hash.startsWith("#/run/") && location.hash.split("?")[0] !== before,
        original,
      );
      await page.getByText("There are many.").first().waitFor();
      assert.equal(provider.asked.length, 1);
      assert.equal(provider.asked[0].model, "quick-1");
      assert.equal(lastOf(provider.asked[0]).content, '[{"n":70}]');
      assert.equal(readFileSync(join(folder, FIRST), "utf8"), CALLED);
      const fork = FIRST.replace("slow", "quick").replace(".yaml", "-fork1.yaml");
      assert.match(readFileSync(join(folder, fork), "utf8"), /part: result\n\s+model: slow/);
      await page.getByTestId("compare-original").click();
      await page.waitForFunction(() => location.hash.startsWith("#/compare"));
      await page.getByText("Thirteen.").first().waitFor();
      await page.getByText("There are many.").first().waitFor();
    },
    { files: { [FIRST]: CALLED }, other: true },
  ));

test("runs that are picked in the list are run again from the start, and the old files are moved aside", () =>
  onSlow(
    async (page, { folder }) => {
      await rows(page).nth(1).waitFor();
      for (const key of ["x", "j", "x", "r"]) await page.keyboard.press(key);
      await page.getByRole("heading", { name: "Rerun: 2 runs" }).waitFor();
      // Both have ended, so the launch starts over and is ready to press.
      assert.ok(await page.getByRole("checkbox", { name: /^Start over/ }).isChecked());
      await page.getByRole("button", { name: "Run 2 runs" }).click();
      await state(page, "Done");
      assert.match(await figures(page), /2 of 2/);
      const href = await page.getByTestId("launch-to-runs").getAttribute("href");
      assert.match(href, /^#\/runs\?q=file/);
      const aside = join(folder, "results/.touchstone/replaced");
      assert.ok(
        existsSync(aside) &&
          readdirSync(aside, { recursive: true }).filter((name) => String(name).includes("count-"))
            .length >= 2,
      );
      assert.match(readFileSync(join(folder, FIRST), "utf8"), /There are many/);
    },
    {
      files: {
        [FIRST]: ANSWERED,
        [FIRST.replace("variation0", "variation1")]: ANSWERED.replace("users", "tickets"),
      },
    },
  ));

test("a run is run again from its own page, after a question", () =>
  onSlow(
    async (page) => {
      await openFirst(page);
      // Between the old file and the new one there is none; the browser logs the failed request.
      page.removeAllListeners("console");
      await page.keyboard.press("r");
      await page
        .getByTestId("run-again")
        .getByRole("button", { name: "Rerun from the start" })
        .waitFor();
      await accessible(page);
      await page.keyboard.press("Enter");
      await page.getByText("There are many.").first().waitFor();
      assert.equal(await page.getByText("Thirteen.").count(), 0);
    },
    { files: { [FIRST]: ANSWERED } },
  ));

const KEY = "canary-4f1c9d2e7b";

test("keys are set or not, are tried, and are never shown", () =>
  onSlow(
    async (page, { provider }) => {
      const heard = [];
      page.on("response", async (response) => heard.push(await response.text().catch(() => "")));
      await page.evaluate(() => (location.hash = "#/settings"));
      const keys = page.getByTestId("keys");
      await keys.getByText("set in the environment").waitFor();
      assert.match(await keys.innerText(), /CANARY_KEY[^]*for slow/);
      assert.match(await keys.innerText(), /ANTHROPIC_API_KEY[^]*not set/);
      await page.getByRole("button", { name: "Test slow" }).click();
      await page.getByText("slow-1 answers:").waitFor();
      // The model receives the key and repeats it, which is the hardest case.
      assert.deepEqual([...provider.keys], [`Bearer ${KEY}`]);
      await page.getByText("Database of query_support_tickets").waitFor();
      await accessible(page);
      assert.ok(!(await page.content()).includes(KEY));
      assert.ok(heard.length > 3 && !heard.join("\n").includes(KEY));
    },
    {
      key: "CANARY_KEY",
      env: { CANARY_KEY: KEY, ANTHROPIC_API_KEY: "", OPENAI_API_KEY: "" },
      reply: () => says(`ready ${KEY}`),
    },
  ));

const ACTS = {
  start_launch: {
    request: {
      tasks: [],
      systems: ["tool_calling"],
      models: ["slow"],
      variations: [],
      repeats: null,
      runs: [],
      start_over: false,
      anyway: false,
      shard: null,
      concurrency: null,
      max_cost: null,
    },
  },
  stop_launch: { id: "x", now: true },
  retry_launch: { id: "x" },
  nudge_run: { id: "x", message: "go on", in_place: false },
  fork_run: { id: "x", step: 0, message: "go on" },
  set_key: { name: "OPENAI_API_KEY", key: "abc" },
  forget_key: { name: "NONE" },
  test_model: { name: "slow" },
};
const post = (page, name, body) =>
  page.evaluate(
    async ([command, sent]) => {
      const response = await fetch(`/api/${command}`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-touchstone": "1" },
        body: JSON.stringify(sent),
      });
      return [response.status, (await response.json())?.message ?? ""];
    },
    [name, body],
  );

test("a page that may only look launches nothing, also when asked directly", () =>
  onSlow(
    async (page, { provider, folder }) => {
      page.removeAllListeners("console");
      await sheet(page, SLOW);
      await page.getByText("This page is read-only and cannot start runs.").waitFor();
      await page.getByText("touchstone serve --allow-run").waitFor();
      await accessible(page);
      await page.evaluate(() => (location.hash = "#/runs"));
      await openFirst(page, false);
      assert.ok(await page.getByTestId("write").isDisabled());
      await accessible(page);
      for (const [name, body] of Object.entries(ACTS)) {
        const [status, said] = await post(page, name, body);
        assert.deepEqual(
          [status, said],
          [403, "This page is read-only and cannot run or change anything."],
          name,
        );
      }
      assert.equal(provider.asked.length, 0);
      assert.equal(readFileSync(join(folder, FIRST), "utf8"), ANSWERED);
    },
    { args: [], files: { [FIRST]: ANSWERED } },
  ));

test("the same requests are understood where runs are allowed", () =>
  onSlow(
    async (page, { provider }) => {
      page.removeAllListeners("console");
      for (const [name, body] of Object.entries(ACTS)) {
        const [status, said] = await post(page, name, body);
        assert.ok(
          status !== 403 && !said.includes("could not be read"),
          `${name}: ${status} ${said}`,
        );
      }
      await provider.until(2);
      // Leaves the keyring of this machine alone.
    },
    { env: { DBUS_SESSION_BUS_ADDRESS: "unix:path=/no/such/bus" } },
  ));

test("launching is found in the palette, and so is stopping while something runs", () =>
  onSlow(async (page, { provider }) => {
    await page.getByTestId("status").waitFor();
    await palette(page, "new launch");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "New launch" }).waitFor();
    provider.hold();
    await launch(page, ONE);
    await provider.until(1);
    await page.evaluate(() => (location.hash = "#/runs"));
    await page.getByTestId("working").waitFor();
    // The browser logs the refused command.
    page.removeAllListeners("console");
    await palette(page, "close the folder");
    await page.keyboard.press("Enter");
    await page.getByText("1 run is in progress in the open folder, so it stays open.").waitFor();
    await accessible(page);
    await palette(page, "stop everything");
    await page.keyboard.press("Enter");
    await page.getByTestId("working").getByText("stopping").waitFor();
    provider.release();
    await page.getByTestId("working").waitFor({ state: "detached" });
    await palette(page, "launches");
    await page.keyboard.press("Enter");
    await state(page, "Stopped");
  }));

test("a server that is asked to end waits for what is in flight, says so, and gives it up when asked again", () =>
  onSlow(async (page, { provider, interrupt, ended, folder }) => {
    page.removeAllListeners("console");
    provider.hold();
    await launch(page, ONE);
    await provider.until(1);
    interrupt();
    await state(page, "Stopping");
    assert.match(await figures(page), /The server ends when/);
    provider.release();
    await ended;
    assert.match(readFileSync(join(folder, FIRST), "utf8"), /Let me look/);
  }));

test("a server that is asked to end twice does not wait", () =>
  onSlow(async (page, { provider, interrupt, ended }) => {
    page.removeAllListeners("console");
    provider.hold();
    await launch(page, ONE);
    await provider.until(1);
    interrupt();
    await state(page, "Stopping");
    interrupt();
    await ended;
    assert.equal(provider.asked.length, 1);
  }));

test(`the sheet offers methods and functions where there are virtual APIs, and a search is launched as it was chosen`, async () => {
  const give = (asked) => ({
    content: null,
    tool_calls: [
      {
        id: "c",
        type: "function",
        function:
          asked.messages.at(-1).role === "tool"
            ? {
                name: "Finish",
                arguments: '{"return_type": "give_answer", "final_answer": "152 cm"}',
              }
            : { name: "level_for_river_gauge", arguments: '{"place": "Elz"}' },
      },
    ],
  });
  const provider = await openProvider(give);
  const api = {
    category_name: "Weather",
    tool_name: "River Gauge",
    api_name: "Level",
    api_description: "How high the water stands",
    method: "GET",
    required_parameters: [{ name: "place", type: "STRING", description: "", default: "Elz" }],
    optional_parameters: [],
  };
  const files = {
    "touchstone.yaml":
      `input_dir: tasks\noutput_dir: results\nmodels:\n` +
      `  slow: { provider: openai, base_url: '${provider.url}', model: slow-1 ` +
      `}\ntools: { apis: { kind: virtual, cache: apis } }\n`,
    "tasks/G1_instruction.json": JSON.stringify([
      {
        query_id: 1,
        query: "How high is the Elz?",
        api_list: [api],
        "relevant APIs": [["River Gauge", "Level"]],
      },
    ]),
    "apis/Weather/river_gauge_for_Weather/level.json": JSON.stringify({
      "{'place': 'Elz'}": { error: "", response: { cm: 152 } },
    }),
    "results/note.txt": "",
  };
  try {
    await onPage(browser, { files, args: MAY }, async (page) => {
      await sheet(page, SLOW);
      await page.getByText("Answer search").waitFor();
      await page.getByTestId("offer-all").waitFor();
      await accessible(page);
      await page.getByLabel("Method").selectOption("DFS_woFilter_w2");
      await page.getByLabel("Functions").selectOption("query");
      await page.getByLabel("Steps per branch").fill("8");
      await page.getByTestId("offer-all").waitFor({ state: "detached" });
      await page.waitForFunction(
        () =>
          location.hash.includes("method=DFS_woFilter_w2") &&
          location.hash.includes("offer=query") &&
          location.hash.includes("steps=8"),
      );
      await accessible(page);
      await run(page).and(page.locator(":enabled")).click();
      await state(page, "Done");
      assert.deepEqual(
        provider.asked[0].tools.map((tool) => tool.function.name),
        ["level_for_river_gauge", "Finish"],
      );
      assert.equal(provider.asked.length, 2);
      // The list of launches may know the end before the rows do, and a run that has not started is
      // not a link.
      await page.getByTestId("launch-run").first().getByRole("link").click();
      await page.waitForFunction(() => location.hash.startsWith("#/run/"));
      await page.getByText("DFS_woFilter_w2").first().waitFor();
      await accessible(page);
    });
  } finally {
    await provider.close();
  }
});

test(`a simulated user is chosen on the sheet, watched, and labelled in the transcript`, () => {
  const talk = (asked) => {
    const said = asked.messages.filter(({ role }) => role === "assistant").length;
    // The instructions of the user are the only ones that speak of a person.
    if (!asked.messages[0].content.includes("You play a person"))
      return says(said === 0 ? "For which month?" : "There are 13 in May.");
    const reply =
      said < 2
        ? { status: "continue", message: ["How many users are there?", "May."][said] }
        : { status: "reached", reason: "The number was named." };
    return says(JSON.stringify(reply));
  };
  const files = {
    "tasks/count.yaml":
      "user:\n  persona: A hurried accountant.\n  goal: Learn how many users there are.\n  knows: { month: May }\n",
  };
  return onSlow(
    async (page, { provider, folder }) => {
      await page.evaluate(() => (location.hash = "#/tasks?task=count"));
      const user = page.getByTestId("task-user");
      await user.waitFor();
      assert.match(await user.innerText(), /A hurried accountant\.[\s\S]*Learn how many users/);
      await accessible(page);
      await sheet(page, SLOW);
      await page.getByTestId("blocked").waitFor();
      assert.match(await page.getByTestId("blocked").innerText(), /No model plays/);
      await page.getByLabel("Simulated user").selectOption("slow");
      await page.getByTestId("plan-note").getByText("played by slow").waitFor();
      await accessible(page);
      provider.hold();
      await run(page).and(page.locator(":enabled")).click();
      await provider.until(1);
      await page.getByText("waiting for the simulated user").waitFor();
      provider.release();
      await state(page, "Done");
      assert.equal(provider.asked.length, 5);
      const text = readFileSync(
        join(folder, "results/count-tool_calling-slow-variation0.yaml"),
        "utf8",
      );
      assert.match(text, /outcome: reached/);
      await page.getByTestId("launch-run").first().click();
      await page.getByText("Simulated user").first().waitFor();
      await page.getByText("For which month?").waitFor();
      assert.equal(await page.getByText("Simulated user", { exact: true }).count(), 2);
      await page.getByText("goal_reached").first().waitFor();
      await accessible(page);
    },
    { reply: talk, files },
  );
});

// A launch that is split over the workers of a scheduler: one row with its parts, followed live from
// files, stopped and submitted again. The commands of Slurm are fakes that answer as recorded.
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { openProvider, says } from "./provider.mjs";
import { ROOT, accessible, onPage, openBrowser } from "./stage.mjs";

const PROGRAM = join(ROOT, "target/debug/touchstone");
const run = promisify(execFile);
let browser;
before(async () => (browser = await openBrowser()));
after(() => browser.close());

const FAKES = {
  sbatch: `#!/bin/sh
cd "$SLURM_FAKE" && n=$(( $(cat last 2>/dev/null || echo 40) + 1 )) && echo $n > last && cat > script-$n && echo $n
`,
  squeue: `#!/bin/sh
cat "$SLURM_FAKE/jobs.json" 2>/dev/null || echo '{"jobs":[]}'
`,
  scancel: `#!/bin/sh
echo "$@" >> "$SLURM_FAKE/cancelled"
`,
};
const task =
  "tool_calling_prompt: Count the {things}.\nvariations:\n" +
  Array.from({ length: 9 }, (_, n) => `  - things: stones${n}\n`).join("");

function fakeSlurm() {
  const dir = mkdtempSync(join(tmpdir(), "touchstone-slurm-"));
  mkdirSync(join(dir, "bin"));
  for (const [name, script] of Object.entries(FAKES)) {
    writeFileSync(join(dir, "bin", name), script);
    chmodSync(join(dir, "bin", name), 0o755);
  }
  return { dir, env: { SLURM_FAKE: dir, PATH: `${join(dir, "bin")}:${process.env.PATH}` } };
}

test("a split launch is one row with its parts, and is stopped and submitted again", async () => {
  const provider = await openProvider(() => says("<answer>42</answer>"));
  const slurm = fakeSlurm();
  const workspace =
    "input_dir: tasks\noutput_dir: results\nmodels:\n" +
    `  local: { provider: openai, base_url: '${provider.url}', model: any, price: { input: 1000, output: 2000 } }\n`;
  const files = { "touchstone.yaml": workspace, "tasks/count.yaml": task, "results/note.txt": "" };
  try {
    await onPage(
      browser,
      { files, args: ["--allow-run"], env: slurm.env },
      async (page, { folder, root }) => {
        const env = {
          ...process.env,
          ...slurm.env,
          TOUCHSTONE_CACHE_DIR: join(root, "cache"),
          TOUCHSTONE_STATE_DIR: join(root, "state"),
        };
        const which = ["-s", "tool_calling", "-m", "local", "--parts", "3", "--max-cost", "50"];
        const submit = ["submit", folder, ...which, "--submit", "slurm", "--detach"];
        execFileSync(PROGRAM, submit, { env });
        const script = readFileSync(join(slurm.dir, "script-41"), "utf8");
        const name = /job-name=(.*)/.exec(script)[1];
        const states = { 1: "PENDING", 2: "PENDING", 3: "PENDING" };
        const say = () =>
          writeFileSync(
            join(slurm.dir, "jobs.json"),
            JSON.stringify({
              jobs: Object.entries(states).map(([number, state]) => ({
                array_job_id: 41,
                array_task_id: Number(number),
                array_task_string: "",
                job_id: 41 + Number(number),
                job_state: state,
                state_reason: state === "PENDING" ? "Priority" : "None",
                name,
                nodes: "n1",
              })),
            }),
          );
        say();
        // The new record is told by the watcher, without a reload.
        await page.getByTestId("working-split").click();
        const summary = page.getByTestId("split-summary");
        await summary.getByText("0 of 9 runs").waitFor();
        await page.getByTestId("launch-state").getByText("Waiting").waitFor();
        assert.match(await page.getByTestId("split-job").innerText(), /41/);
        await page.getByTestId("split-parts").locator("summary").click();
        await page.getByTestId("split-part").getByText("waits behind other jobs").first().waitFor();
        await run("sh", ["-c", script], {
          env: { ...env, SLURM_ARRAY_JOB_ID: "41", SLURM_ARRAY_TASK_ID: "1" },
        });
        states[1] = "COMPLETED";
        say();
        await page.getByTestId("split-part").getByText("Ended").first().waitFor();
        const figures = await summary.innerText();
        assert.match(figures, /[1-9] of 9 runs/);
        assert.match(figures, /\$\d+\.\d+ of \$50/);
        await accessible(page);
        await page.getByRole("button", { name: "Stop…" }).click();
        await page.getByTestId("stop-split").waitFor();
        await accessible(page);
        await page
          .getByTestId("stop-split")
          .getByRole("button", { name: "Stop", exact: true })
          .click();
        await page.getByTestId("stop-split").waitFor({ state: "detached" });
        assert.equal(
          readFileSync(join(slurm.dir, "cancelled"), "utf8"),
          "--state=PENDING 41\n--state=RUNNING --signal=TERM --batch 41\n",
        );
        [states[2], states[3]] = ["CANCELLED", "CANCELLED"];
        say();
        await page.getByTestId("launch-state").getByText("Ended, with runs left").waitFor();
        await page.getByRole("button", { name: "Submit again what is left" }).click();
        await page.getByTestId("split-job").nth(1).waitFor();
        const again = readFileSync(join(slurm.dir, "script-42"), "utf8");
        assert.match(again, /#SBATCH --array=2-3\n/);
        assert.equal(existsSync(join(slurm.dir, "script-43")), false);
      },
    );
  } finally {
    await provider.close();
    rmSync(slurm.dir, { recursive: true, force: true });
  }
});

test("a page that may not run shows the files and starts no program", async () => {
  const provider = await openProvider(() => says("<answer>42</answer>"));
  const slurm = fakeSlurm();
  // Asking it would fail the test.
  writeFileSync(join(slurm.dir, "bin/squeue"), '#!/bin/sh\ntouch "$SLURM_FAKE/asked"\n');
  const workspace =
    "input_dir: tasks\noutput_dir: results\nmodels:\n" +
    `  local: { provider: openai, base_url: '${provider.url}', model: any }\n`;
  const files = { "touchstone.yaml": workspace, "tasks/count.yaml": task, "results/note.txt": "" };
  try {
    await onPage(
      browser,
      { files, env: slurm.env, viewport: { width: 900, height: 700 } },
      async (page, { folder, root }) => {
        const env = {
          ...process.env,
          TOUCHSTONE_CACHE_DIR: join(root, "cache"),
          TOUCHSTONE_STATE_DIR: join(root, "state"),
        };
        const which = ["run", folder, "-s", "tool_calling", "-m", "local", "--shard", "1/2"];
        await run(PROGRAM, which, {
          env: { ...env, SLURM_ARRAY_JOB_ID: "7", SLURM_ARRAY_TASK_ID: "1" },
        });
        await page.getByTestId("working-split").click();
        await page.getByText("This page is read-only and starts no program").waitFor();
        await page.getByTestId("how-to-stop").getByText("scancel 7").waitFor();
        assert.equal(await page.getByRole("button", { name: "Stop…" }).count(), 0);
        await page.getByTestId("split-parts").locator("summary").click();
        await page.getByTestId("split-part").first().waitFor();
        await accessible(page);
        assert.equal(existsSync(join(slurm.dir, "asked")), false);
      },
    );
  } finally {
    await provider.close();
    rmSync(slurm.dir, { recursive: true, force: true });
  }
});

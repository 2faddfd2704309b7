import { flushSync, mount, unmount } from "svelte";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import App from "../../app/App.svelte";
import { Fixture } from "../../testing/fakeBackend";
import { launched, splitLaunch, splitPart } from "../../testing/launch";

let app: ReturnType<typeof mount> | undefined;
const all = (selector: string) => [...document.querySelectorAll<HTMLElement>(selector)];
const id = (testid: string) => all(`[data-testid="${testid}"]`)[0];
const text = () => document.body.textContent.replace(/\s+/g, " ");
const button = (label: string) =>
  all("button").find((one) => one.textContent.includes(label)) as HTMLButtonElement | undefined;
const until = (holds: () => boolean) =>
  vi.waitFor(() => {
    flushSync();
    if (!holds()) throw new Error(`not yet: ${holds.toString()}\n${location.hash}\n${text()}`);
  }, 20_000);
const asked = (fixture: Fixture, name: string) =>
  fixture.calls.filter((call) => call.name === name).map((call) => call.args);
async function open(fixture: Fixture, hash = "#/launch/1-node-2") {
  history.replaceState(null, "", hash);
  app = mount(App, { target: document.body, props: { backend: fixture } });
  await until(() => document.querySelector("main") !== null);
  return fixture;
}

// The first test waits for the parts of the page to be loaded, too.
vi.setConfig({ testTimeout: 60_000 });
beforeEach(() => localStorage.clear());
afterEach(async () => {
  if (app) await unmount(app);
  app = undefined;
  document.body.replaceChildren();
});

describe("a launch split over several machines", () => {
  it("is one row with progress, budget and job, and its parts are folded under it", async () => {
    const fixture = new Fixture();
    fixture.splits = [splitLaunch()];
    fixture.launches = [launched("l1")];
    await open(fixture);
    await until(() => id("split-summary") !== undefined);
    for (const words of [
      "14 of 40 runs",
      "2 failed",
      "21 left",
      "$1.25 of $5.00",
      "Job of Slurm: 12",
      "1 running",
      "1 lost",
    ])
      expect(text()).toContain(words);
    expect(all("nav[aria-label=Launches] a").length).toBe(3);
    expect(id("working-split")?.textContent).toContain("1 of 4 parts running, 14 of 40");
    expect(all('[data-testid="split-part"]').length).toBe(0);
    id("split-parts")?.querySelector("summary")?.click();
    await until(() => all('[data-testid="split-part"]').length === 4);
    await until(() => text().includes("was ended at its time limit"));
    expect(text()).toContain("waits for other parts");
  });

  it("asks once before it stops, and says how where it cannot be stopped from here", async () => {
    const fixture = new Fixture();
    fixture.splits = [splitLaunch()];
    await open(fixture);
    await until(() => button("Stop…") !== undefined);
    button("Stop…")?.click();
    await until(() => id("stop-split") !== undefined);
    expect(asked(fixture, "stop_split_launch")).toEqual([]);
    expect(text()).toContain("1 part of job 12 runs, 1 waits.");
    all('[data-testid="stop-split"] button')[0]?.click();
    await until(() => asked(fixture, "stop_split_launch").length === 1);
    expect(asked(fixture, "stop_split_launch")).toEqual([{ id: "1-node-2", now: false }]);
    await until(() => id("stop-split") === undefined);
    fixture.splits = [splitLaunch({ may_stop: false, note: "`squeue` is not on this machine." })];
    fixture.tell({ kind: "launches" });
    await until(() => id("how-to-stop") !== undefined);
    expect(id("how-to-stop")?.textContent).toContain("scancel 12");
    expect(button("Stop…")).toBeUndefined();
    expect(text()).toContain("`squeue` is not on this machine.");
  });

  it("submits what is left, or says how, and shows why it failed", async () => {
    const fixture = new Fixture();
    fixture.splits = [
      splitLaunch({ state: "unfinished", running: 0, waiting: 0, may_stop: false }),
    ];
    fixture.replies.submit_again = () =>
      Promise.reject({ code: "failed", message: "Slurm refuses the job.", hint: "Try again." });
    await open(fixture);
    await until(() => button("Submit again what is left") !== undefined);
    button("Submit again what is left")?.click();
    await until(() => text().includes("Slurm refuses the job."));
    expect(asked(fixture, "submit_again")).toEqual([{ id: "1-node-2" }]);
    fixture.splits = [
      splitLaunch({
        state: "unfinished",
        may_submit: false,
        how_to_submit: "Run its script again.",
      }),
    ];
    fixture.tell({ kind: "launches" });
    await until(() => id("how-to-submit") !== undefined);
    expect(button("Submit again what is left")).toBeUndefined();
  });

  it("reads only the parts in sight", async () => {
    const fixture = new Fixture();
    const rows = Array.from({ length: 1_000 }, (_, index) => splitPart(index + 1));
    fixture.splits = [splitLaunch({ parts: 1_000, waiting: 1_000, running: 0, rows })];
    await open(fixture);
    await until(() => id("split-parts") !== undefined);
    const spans = asked(fixture, "split_launch");
    expect(spans).toEqual([{ id: "1-node-2", span: { offset: 0, limit: 100 } }]);
  });
});

import { flushSync, mount, unmount } from "svelte";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import App from "../../app/App.svelte";
import { Fixture, runRow, STATUS } from "../../testing/fakeBackend";
import type { LaunchRequest } from "../../generated";
import { choice, launched, launchRun, OPTIONS, plan, planned } from "../../testing/launch";

let app: ReturnType<typeof mount> | undefined;
const all = (selector: string) => [...document.querySelectorAll<HTMLElement>(selector)];
const id = (testid: string) => all(`[data-testid="${testid}"]`)[0];
const text = () => document.body.textContent.replace(/\s+/g, " ");
const button = (label: string) =>
  all("button").find((one) => one.textContent.includes(label)) as HTMLButtonElement | undefined;
const field = (label: string) => {
  const tag = all("label").find((one) => one.textContent.includes(label));
  return (tag?.querySelector("input") ??
    document.getElementById(tag?.getAttribute("for") ?? "")) as HTMLInputElement;
};
const until = (holds: () => boolean) =>
  vi.waitFor(() => {
    flushSync();
    if (!holds()) throw new Error(`not yet: ${holds.toString()}\n${location.hash}\n${text()}`);
  }, 4_000);
const press = (
  key: string,
  more: KeyboardEventInit = {},
  target: Element = document.activeElement ?? document.body,
) => {
  target.dispatchEvent(
    new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }),
  );
  flushSync();
};
const write = (input: HTMLInputElement, value: string) => {
  input.value = value;
  input.dispatchEvent(new InputEvent("input", { bubbles: true }));
  flushSync();
};
const asked = (fixture: Fixture, name: string) =>
  fixture.calls.filter((call) => call.name === name).map((call) => call.args);
const requests = (fixture: Fixture) =>
  asked(fixture, "plan_launch").map((args) => (args as { request: LaunchRequest }).request);
async function open(fixture: Fixture, hash: string) {
  history.replaceState(null, "", hash);
  app = mount(App, { target: document.body, props: { backend: fixture } });
  await until(() => document.querySelector("main") !== null);
  return fixture;
}

beforeEach(() => localStorage.clear());
afterEach(async () => {
  if (app) await unmount(app);
  app = undefined;
  document.body.replaceChildren();
});

const OWED = plan(
  [
    planned(1, "start", "There is no file yet."),
    planned(2, "continue", "Its file ends in an error."),
  ],
  [planned(3, "nothing", "It is complete.")],
  { estimate: { known: 1, calls: 12, tokens: 9_000, cost: 0.4 } },
);
const READY = "#/launch?system=tool_calling&model=claude";

describe("the launch sheet", () => {
  it("shows what it comes to and sends nothing before Run is pressed", async () => {
    const fixture = new Fixture();
    fixture.replies.plan_launch = () => OWED;
    await open(fixture, READY);
    await until(() => text().includes("2 to run"));
    for (const words of [
      "There is no file yet.",
      "Its file ends in an error.",
      "1 skipped",
      "It is complete.",
      "about 12 calls · 9.0k tokens · $0.400",
      "for 1 of the 2 runs",
    ])
      expect(text()).toContain(words);
    expect(asked(fixture, "start_launch")).toEqual([]);
    fixture.launches = [launched("l1")];
    id("run")?.click();
    await until(() => location.hash === "#/launch/l1");
    expect(asked(fixture, "start_launch")).toEqual([{ request: requests(fixture).at(-1) }]);
    expect(requests(fixture).at(-1)).toMatchObject({
      systems: ["tool_calling"],
      models: ["claude"],
      runs: [],
      start_over: false,
    });
  });
  it("says what attacks whom, and sends nothing until the targets are confirmed", async () => {
    const fixture = new Fixture();
    const scan = (confirmed: boolean) => ({
      attacks: 2,
      categories: ["violence"],
      strategies: ["baseline"],
      targets: [
        {
          target: "tool_calling/o1",
          model: "o1",
          address: "https://a",
          attacks: 2,
          requests: null,
          confirmed,
        },
      ],
      attackers: [
        {
          target: "attacker/mini",
          model: "mini",
          address: "https://b",
          attacks: 1,
          requests: 6,
          confirmed,
        },
      ],
    });
    fixture.replies.plan_launch = () => ({ ...OWED, scan: scan(false) });
    await open(fixture, READY);
    await until(() => text().includes("2 attacks: violence; strategies: baseline"));
    expect(id("run")?.hasAttribute("disabled")).toBe(true);
    id("plan-scan")?.querySelector("input")?.click();
    await until(() => id("run")?.hasAttribute("disabled") === false);
    expect(asked(fixture, "confirm_scan")).toEqual([]);
    fixture.launches = [launched("l1")];
    id("run")?.click();
    await until(() => location.hash === "#/launch/l1");
    expect(asked(fixture, "confirm_scan")).toMatchObject([
      { targets: [...scan(false).targets, ...scan(false).attackers] },
    ]);
  });
  it("asks again when the plan attacks another target", async () => {
    const fixture = new Fixture();
    let address = "https://a";
    fixture.replies.plan_launch = () => ({
      ...OWED,
      scan: {
        attacks: 2,
        categories: ["violence"],
        strategies: ["baseline"],
        targets: [
          {
            target: "tool_calling/o1",
            model: "o1",
            address,
            attacks: 2,
            requests: null,
            confirmed: false,
          },
        ],
        attackers: [],
      },
    });
    await open(fixture, READY);
    await until(() => text().includes("https://a"));
    const box = () => id("plan-scan")?.querySelector("input");
    box()?.click();
    await until(() => id("run")?.hasAttribute("disabled") === false);
    address = "https://b";
    location.hash = READY.replace("claude", "replay");
    await until(() => text().includes("https://b"));
    expect(box()?.checked).toBe(false);
    expect(id("run")?.hasAttribute("disabled")).toBe(true);
  });
  it("asks for what is missing, fills in what there is no choice about, and keeps the address in step", async () => {
    const fixture = new Fixture();
    fixture.options = { ...OPTIONS, systems: [choice("tool_calling")] };
    fixture.replies.plan_launch = () => OWED;
    await open(fixture, "#/launch");
    await until(() => text().includes("Choose a model."));
    expect([
      requests(fixture),
      field("tool_calling").checked,
      (id("run") as HTMLButtonElement).disabled,
    ]).toEqual([[], true, true]);
    field("claude").click();
    field("Start over").click();
    write(field("Spend limit"), "2.5");
    await until(() => location.hash === "#/launch?system=tool_calling&model=claude&over=1&max=2.5");
    await until(
      () =>
        requests(fixture).at(-1)?.max_cost === 2.5 && requests(fixture).at(-1)?.start_over === true,
    );
  });
  it("says when a budget binds nothing, because no price is known", async () => {
    const fixture = new Fixture();
    fixture.replies.plan_launch = () => ({
      ...OWED,
      unbound: "`claude` has no known price, so the budget of $5 has no effect there.",
    });
    await open(fixture, READY);
    await until(
      () =>
        id("unbound")?.textContent ===
        "`claude` has no known price, so the budget of $5 has no effect there.",
    );
  });
  it("begins nothing while the workspace file or a suite is wrong, and says what and where", async () => {
    const wrong = {
      kind: "suite_error",
      file: "touchstone.yaml",
      run: null,
      message: "`max_costs` is not a key of `run`.",
      line: 4,
      column: 8,
      excerpt: "run: { max_costs: 1 }",
      advice: "Did you mean `max_cost`?",
    } as const;
    const doubtful = {
      ...wrong,
      kind: "suite_warning",
      file: "tasks/a.yaml",
      message: "`{other}` is not a parameter.",
      line: 2,
      advice: null,
    } as const;
    const fixture = new Fixture();
    fixture.replies.plan_launch = () => ({
      ...OWED,
      problems: [wrong, doubtful],
      invalid: {
        message:
          "touchstone.yaml, line 4: `max_costs` is not a key of `run`. Did you mean `max_cost`?",
        fix: "Correct touchstone.yaml.",
      },
    });
    await open(fixture, READY);
    await until(() =>
      text().includes(
        "touchstone.yaml, line 4: max_costs is not a key of run. Did you mean max_cost?",
      ),
    );
    expect(id("plan-problems")?.textContent.trim()).toBe(
      "tasks/a.yaml, line 2: {other} is not a parameter.",
    );
    expect((id("run") as HTMLButtonElement).disabled).toBe(true);
    id("run")?.click();
    expect(asked(fixture, "start_launch")).toEqual([]);
  });
  it("warns of suites and begins all the same", async () => {
    const fixture = new Fixture();
    fixture.replies.plan_launch = () => ({
      ...OWED,
      problems: [
        {
          kind: "suite_warning",
          file: "tasks/a.yaml",
          run: null,
          message: "`{other}` is not a parameter.",
          line: 2,
          column: 1,
          excerpt: null,
          advice: null,
        },
      ],
    });
    await open(fixture, READY);
    await until(() => id("plan-problems") !== null && !(id("run") as HTMLButtonElement).disabled);
  });
  it("has nothing of methods and functions where there are no APIs and no queries", async () => {
    await open(new Fixture(), READY);
    await until(() => field("claude").checked);
    expect(text()).not.toContain("Answer search");
  });
  it("asks for the model that plays a user only where the task names none", async () => {
    const [first] = OPTIONS.tasks;
    if (!first) throw new Error("no task");
    const other = new Fixture();
    other.options = { ...OPTIONS, tasks: [{ ...first, user: { model: "o1", attacks: false } }] };
    await open(other, READY);
    await until(() => field("claude").checked);
    expect(document.querySelector('[data-testid="user-model"]')).toBeNull();
  });
  it("sends the model that plays the user", async () => {
    const [first] = OPTIONS.tasks;
    if (!first) throw new Error("no task");
    const other = new Fixture();
    other.options = {
      ...OPTIONS,
      user_model: "claude",
      tasks: [{ ...first, user: { model: null, attacks: false } }],
    };
    await open(other, READY);
    const select = () => document.querySelector<HTMLSelectElement>('[data-testid="user-model"]');
    await until(() => select() !== null);
    expect(select()?.textContent).toContain("Default: claude");
    const chosen = select();
    if (!chosen) return;
    chosen.value = "o1";
    chosen.dispatchEvent(new Event("change", { bubbles: true }));
    await until(() => location.hash.includes("user=o1"));
  });
  it("offers the attacker where a task attacks over several turns, and says that none is named", async () => {
    const [first] = OPTIONS.tasks;
    if (!first) throw new Error("no task");
    const other = new Fixture();
    other.options = { ...OPTIONS, tasks: [{ ...first, user: { model: null, attacks: true } }] };
    await open(other, READY);
    await until(() => id("user-model") !== null);
    expect(text()).toContain("Attacker");
    expect(text()).toContain("No model is named yet that leads the attacks over several turns.");
  });
  it("sends the method and the functions that were chosen", async () => {
    const other = new Fixture();
    other.options = {
      ...OPTIONS,
      search: { method: "CoT@1", others: ["o1: DFS_woFilter_w2"], offer: "all", has_apis: true },
    };
    await open(other, READY);
    await until(
      () =>
        text().includes("Default: CoT@1") &&
        text().includes("o1: DFS_woFilter_w2") &&
        text().includes("search_apis"),
    );
    const choose = (label: string, value: string) => {
      const select = all("select").find((one) =>
        one.closest(".field")?.textContent.includes(label),
      ) as HTMLSelectElement;
      select.value = value;
      select.dispatchEvent(new Event("change", { bubbles: true }));
    };
    choose("Method", "DFS_woFilter_w2");
    choose("Functions", "query");
    write(field("Steps per branch"), "8");
    await until(() => requests(other).at(-1)?.steps === 8);
    expect(requests(other).at(-1)).toMatchObject({
      method: "DFS_woFilter_w2",
      offer: "query",
      queries: null,
    });
    expect(text()).not.toContain("search_apis");
  });
  it("says what a model or system lacks and what mends it, and lets it be planned", async () => {
    await open(new Fixture(), "#/launch");
    await until(() => text().includes("OPENAI_API_KEY is not set"));
    expect([field("o1").disabled, field("promptql").disabled, field("claude").disabled]).toEqual([
      false,
      false,
      false,
    ]);
    expect(text()).toContain("Set it in Settings.");
    expect(
      document.getElementById(field("o1").getAttribute("aria-describedby") ?? "")?.textContent,
    ).toContain("OPENAI_API_KEY");
    expect(field("replay").closest("label")?.textContent).toContain("no model is asked");
  });
  it("says what of the workspace file could not be used, and offers the rest", async () => {
    const fixture = new Fixture();
    fixture.options = { ...OPTIONS, wrong: ["models.gpt: the provider `opnai` is not known."] };
    await open(fixture, READY);
    await until(
      () => text().includes("the provider opnai is not known.") && field("claude").checked,
    );
  });
  it("shows what is to run without a key, one line a cause, and the reason why Run is disabled", async () => {
    const fixture = new Fixture();
    const blocked = [
      { why: "OPENAI_API_KEY is not set", fix: "Store it in the settings.", runs: 2 },
    ];
    fixture.replies.plan_launch = () =>
      plan([planned(0, "start", "new"), planned(1, "start", "new", { path: "b" })], [], {
        blocked,
        blocked_total: 2,
        notes: ["PromptQL v2 requests carry no model."],
      });
    await open(fixture, READY);
    await until(() => text().includes("Cannot start here"));
    expect(id("blocked")?.textContent.replace(/\s+/g, " ")).toBe(
      "Cannot start here: OPENAI_API_KEY is not set (2 runs). Store it in the settings. Settings › Keys",
    );
    expect(id("blocked")?.querySelector("a")?.getAttribute("href")).toBe("#/settings");
    expect(id("plan-note")?.textContent).toBe("PromptQL v2 requests carry no model.");
    const run = id("run") as HTMLButtonElement;
    expect([
      text().includes("0 to run, 2 cannot start here"),
      run.disabled,
      document
        .getElementById(run.getAttribute("aria-describedby") ?? "")
        ?.contains(id("blocked") ?? null),
    ]).toEqual([true, true, true]);
    press("Enter", { ctrlKey: true }, document.body);
    expect(asked(fixture, "start_launch")).toEqual([]);
    fixture.replies.plan_launch = () =>
      plan([planned(0, "start", "new"), planned(1, "start", "new", { path: "b" })], [], {
        blocked: [{ ...blocked[0]!, runs: 1 }],
        blocked_total: 1,
      });
    write(field("Repeats"), "2");
    await until(() => !run.disabled && run.textContent === "Run 1 run");
    expect(text()).toContain("1 to run, 1 cannot start here");
  });
  it("sends no request for a number that is none", async () => {
    const fixture = new Fixture();
    fixture.replies.plan_launch = () => OWED;
    await open(fixture, READY);
    await until(() => !(id("run") as HTMLButtonElement).disabled);
    write(field("Spend limit"), "2,5");
    await until(
      () =>
        (id("run") as HTMLButtonElement).disabled &&
        text().includes("One of the numbers cannot be read."),
    );
    press("Enter", { ctrlKey: true }, document.body);
    expect(asked(fixture, "start_launch")).toEqual([]);
  });
  it("picks tasks by keys and by tag", async () => {
    const fixture = new Fixture();
    await open(fixture, READY);
    await until(() => all("[role=option]").length === 3);
    const list = all("[role=listbox]")[0]!;
    press("ArrowDown", {}, list);
    press(" ", {}, list);
    await until(() => location.hash.includes("task=support%2Fprioritize_tickets"));
    expect(id("tasks-picked")?.textContent).toBe("1 of 3");
    button("sql")?.click();
    await until(() => all("[role=option]").length === 2);
    button("Select the 2 shown")?.click();
    await until(() => id("tasks-picked")?.textContent === "2 of 3");
    await until(() => requests(fixture).at(-1)?.tasks.length === 2);
  });
  it("has a row for all tasks, which is ticked until one is chosen, and again by a click", async () => {
    await open(new Fixture(), READY);
    await until(() => all("[role=option]").length === 3);
    const box = () => all(".all input")[0] as HTMLInputElement;
    expect(all(".all")[0]?.textContent).toBe("All tasks (3)");
    expect(box().checked).toBe(true);
    box().click();
    expect(box().checked).toBe(true);
    press(" ", {}, all("[role=listbox]")[0]!);
    await until(() => location.hash.includes("task=") && !box().checked);
    box().click();
    await until(() => !location.hash.includes("task=") && box().checked);
  });
  it("draws what is in sight of thousands of tasks and runs", async () => {
    const fixture = new Fixture();
    fixture.options = {
      ...OPTIONS,
      tasks: Array.from({ length: 5_000 }, (_, index) => ({
        id: `t${index}`,
        name: null,
        tags: [],
        variations: ["a"],
        repeat: 1,
        user: null,
      })),
    };
    fixture.replies.plan_launch = () =>
      plan(
        Array.from({ length: 1_000 }, (_, index) =>
          planned(index, "start", "new", { path: `f${index}` }),
        ),
        [],
        { owed_total: 20_000 },
      );
    await open(fixture, READY);
    await until(() => text().includes("20,000 to run") && text().includes("Run 20,000 runs"));
    all(".fold")[0]?.click();
    await until(() => all(".line.run").length > 5);
    expect(all(".line.run").length).toBeLessThan(80);
    expect(all("[role=option]").length).toBeLessThan(80);
  });
  it("shows what differs in a refused run, and offers to continue anyway or to start over", async () => {
    const fixture = new Fixture();
    fixture.replies.plan_launch = ({ request }) =>
      request.anyway
        ? plan([planned(7, "continue", "As asked.")])
        : plan(
            [],
            [
              planned(7, "refused", "The first message differs.", {
                differs: "- old words\n+ new words",
              }),
            ],
          );
    await open(fixture, READY);
    await until(() => button("▸ differs") !== undefined);
    button("▸ differs")?.click();
    await until(() => text().includes("- old words") && text().includes("+ new words"));
    button("Continue anyway")?.click();
    await until(() => text().includes("1 to run") && location.hash.includes("anyway=1"));
    history.replaceState(null, "", READY);
    window.dispatchEvent(new HashChangeEvent("hashchange"));
    await until(() => button("Start over…") !== undefined);
    button("Start over…")?.click();
    await until(
      () =>
        location.hash === "#/launch?runs=r7&over=1" && requests(fixture).at(-1)?.runs[0] === "r7",
    );
  });
  it("of just some runs names how many and has no matrix", async () => {
    await open(new Fixture(), "#/launch?runs=r1,r2");
    await until(() => text().includes("Rerun: 2 runs"));
    expect(all("[role=listbox]")).toEqual([]);
    button("Choose from all tasks")?.click();
    await until(() => all("[role=listbox]").length === 1 && text().includes("New launch"));
  });
  it("says beside the button why nothing was begun, and keeps everything as it was", async () => {
    const fixture = new Fixture();
    fixture.replies.plan_launch = () => OWED;
    fixture.replies.start_launch = () =>
      Promise.reject({ code: "failed", message: "The disk is full.", hint: "Make room." });
    await open(fixture, READY);
    await until(() => !(id("run") as HTMLButtonElement).disabled);
    press("Enter", { ctrlKey: true }, document.body);
    await until(() =>
      all("[role=alert]").some((one) => one.textContent.includes("The disk is full.")),
    );
    expect([location.hash, (id("run") as HTMLButtonElement).disabled]).toEqual([READY, false]);
  });
  it.each<[string, (fixture: Fixture) => void, string]>([
    [
      "may not",
      (fixture) =>
        (fixture.options = {
          ...OPTIONS,
          why_not: { message: "This server may not launch.", fix: "Start it with --allow-run." },
        }),
      "Start it with --allow-run.",
    ],
    [
      "has no tasks",
      (fixture) => (
        (fixture.options = {
          ...OPTIONS,
          tasks: [],
          why_not: { message: "There are no tasks.", fix: "Set `input_dir`." },
        }),
        (fixture.status = {
          ...STATUS,
          counts: { ...STATUS.counts, suite_problems: 0 },
          folder: { ...STATUS.folder!, input_dir: null },
        })
      ),
      "There are no tasks. Create a task Save this as /home/me/benchmark/suites/first.yaml.",
    ],
    [
      "has suites that cannot be read",
      (fixture) => (
        (fixture.options = { ...OPTIONS, tasks: [] }),
        (fixture.status = { ...STATUS, counts: { ...STATUS.counts, suite_problems: 1 } })
      ),
      "Show problems",
    ],
    [
      "cannot be asked",
      (fixture) =>
        (fixture.replies.launch_options = () =>
          Promise.reject({
            code: "failed",
            message: "The workspace file cannot be read.",
            hint: null,
          })),
      "The workspace file cannot be read.",
    ],
  ])("says so where the engine %s", async (_, change, words) => {
    const fixture = new Fixture();
    change(fixture);
    await open(fixture, READY);
    await until(() => text().includes(words));
    expect(requests(fixture)).toEqual([]);
  });
});

describe("a launch", () => {
  const RUNS = [
    launchRun(1),
    launchRun(2, { state: "error", doing: "The provider answered 429." }),
    launchRun(3, { state: "waiting", turn: 0, doing: null, cost: null }),
  ];
  it("shows how it stands, run by run, and is read again when told, not more than some times a second", async () => {
    const fixture = new Fixture();
    fixture.launches = [launched("l1", { runs: RUNS, total: 3, max_cost: 5, unpriced: 2 })];
    await open(fixture, "#/launch/l1");
    await until(() => all("[data-testid=launch-run]").length === 3);
    expect(
      all("[data-testid=launch-run]").map(
        (row) => row.textContent.replace(/\s+/g, " ").trim().split(" ")[0],
      ),
    ).toEqual(["Running", "Error", "Queued"]);
    for (const words of [
      "asking claude",
      "The provider answered 429.",
      "$0.420 of $5.00",
      "without 2 replies of unknown cost",
      "2 running, 3 of 3",
    ])
      expect(text()).toContain(words);
    const before = asked(fixture, "launch").length;
    fixture.launches = [
      launched("l1", {
        runs: RUNS.slice(0, 1),
        total: 1,
        state: "done",
        waiting: 0,
        running: 0,
        done: 1,
        failed: 0,
      }),
    ];
    for (let at = 0; at < 50; at++) fixture.tell({ kind: "launches" });
    await until(
      () =>
        id("launch-state")?.textContent === "Done" && all("[data-testid=launch-run]").length === 1,
    );
    expect(asked(fixture, "launch").length - before).toBeLessThan(4);
    expect(id("working")).toBeUndefined();
  });
  it("is stopped, and by a second press stopped now", async () => {
    const fixture = new Fixture();
    fixture.launches = [launched("l1", { runs: RUNS, total: 3 })];
    fixture.replies.stop_launch = ({ now }) => {
      fixture.launches = [
        launched("l1", {
          runs: RUNS,
          total: 3,
          state: now ? "stopped" : "stopping",
          why: now ? "It was stopped." : null,
        }),
      ];
      return null;
    };
    await open(fixture, "#/launch/l1");
    await until(() => button("Stop") !== undefined);
    press("S", { shiftKey: true }, document.body);
    await until(() => text().includes("Calls in flight are finished and saved"));
    button("Stop now")?.click();
    await until(() => text().includes("It was stopped."));
    expect(asked(fixture, "stop_launch")).toEqual([
      { id: "l1", now: false },
      { id: "l1", now: true },
    ]);
  });
  it("that is over is retried as another launch", async () => {
    const fixture = new Fixture();
    fixture.launches = [
      launched("l1", {
        state: "stopped",
        why: "The limit of $2.00 was reached.",
        failed: 2,
        stopped: 1,
      }),
      launched("l2", {}),
    ];
    fixture.replies.retry_launch = () => ({ launch: "l2", run: null });
    await open(fixture, "#/launch/l1");
    await until(
      () =>
        text().includes("The limit of $2.00 was reached.") && button("Retry 3 runs") !== undefined,
    );
    expect(all("nav[aria-label=Launches] a")).toHaveLength(3);
    press("R", { shiftKey: true }, document.body);
    await until(() => location.hash === "#/launch/l2");
    expect(asked(fixture, "retry_launch")).toEqual([{ id: "l1" }]);
  });
  it("tells what one should know besides", async () => {
    const fixture = new Fixture();
    fixture.launches = [
      launched("l1", {
        notes: [
          "2 runs are left out, including a.yaml. The key `K` is not set.",
          "The tool `search` cannot be used.",
        ],
        more_notes: 3,
      }),
    ];
    await open(fixture, "#/launch/l1");
    await until(() => all("[data-testid=summary] [aria-label=Notes] li").length === 2);
    expect(text()).toContain("3 more notes in the log.");
    expect(text()).toContain("2 runs are left out, including a.yaml. The key K is not set.");
  });
  it("that has ended by one answer does not run again by an older one", async () => {
    const fixture = new Fixture();
    const running = launched("l1", { runs: RUNS, total: 3 });
    fixture.launches = [{ ...running, state: "done", waiting: 0, running: 0, done: 3, failed: 0 }];
    fixture.replies.launch = () => running;
    await open(fixture, "#/launch/l1");
    await until(
      () => all("[data-testid=launch-run]").length === 3 && asked(fixture, "launches").length > 0,
    );
    await until(() => id("launch-state")?.textContent === "Done");
    expect(id("summary")?.textContent).toContain("3 of 3");
  });
  it("of ten thousand runs draws and reads what is in sight, and opens the run under the cursor", async () => {
    const fixture = new Fixture();
    fixture.launches = [
      launched("l1", {
        total: 10_000,
        runs: Array.from({ length: 10_000 }, (_, index) => launchRun(9_999 - index)),
      }),
    ];
    await open(fixture, "#/launch/l1");
    await until(() => all("[data-testid=launch-run]").length > 10);
    expect(all("[data-testid=launch-run]").length).toBeLessThan(80);
    for (const args of asked(fixture, "launch"))
      expect((args as { span: { limit: number } }).span.limit).toBeLessThanOrEqual(200);
    press("j", {}, document.body);
    press("Enter", {}, document.body);
    await until(() => location.hash === "#/run/r9998");
    press("J", {}, document.body);
    await until(() => location.hash === "#/run/r9997");
    press("Escape", {}, document.body);
    await until(() => location.hash.startsWith("#/launch/l1"));
  });
  it("that is not known any more says so, and one that cannot be stopped says why", async () => {
    const fixture = new Fixture();
    await open(fixture, "#/launch/gone");
    await until(() => text().includes("Launch not found"));
    fixture.launches = [launched("l1", { runs: RUNS, total: 3 })];
    fixture.replies.stop_launch = () =>
      Promise.reject({ code: "failed", message: "It ended already.", hint: null });
    fixture.tell({ kind: "launches" });
    await until(() => id("working") !== undefined);
    id("working")?.click();
    location.hash = "#/launch/l1";
    await until(() => button("Stop") !== undefined);
    button("Stop")?.click();
    await until(() =>
      all("[role=alert]").some((one) => one.textContent.includes("It ended already.")),
    );
  });
});

describe("the runs", () => {
  it("that are selected are put on a sheet by r, else the one under the cursor", async () => {
    await open(new Fixture(), "#/runs");
    await until(() => all("[data-testid=run-row]").length > 10);
    press("j", {}, document.body);
    press("r", {}, document.body);
    await until(() => location.hash === "#/launch?runs=r1&over=1");
    history.back();
    await until(() => all("[data-testid=run-row]").length > 10);
    for (const key of ["x", "j", "x", "r"]) press(key, {}, document.body);
    await until(() => location.hash === "#/launch?runs=r1,r2&over=1");
  });
  it("that wait are offered to be continued, all of them, but not while runs are at work", async () => {
    const fixture = new Fixture(
      Array.from({ length: 450 }, (_, index) => runRow(index, { state: "waiting" })),
      { ...STATUS, counts: { ...STATUS.counts, waiting: 450 } },
    );
    await open(fixture, "#/runs");
    await until(() => text().includes("450 runs are paused and can be continued."));
    fixture.launches = [launched("l1")];
    fixture.tell({ kind: "launches" });
    await until(() => id("waiting") === undefined);
    fixture.launches = [];
    fixture.tell({ kind: "launches" });
    await until(() => id("waiting") !== undefined);
    button("Continue them…")?.click();
    await until(
      () =>
        location.hash.startsWith("#/launch?runs=r0,r1,") && location.hash.split(",").length === 450,
    );
  });
});

// The dialog that makes suites of the tasks of runs, from the plan to the files.
import { flushSync, mount, unmount } from "svelte";
import { afterEach, expect, it, vi } from "vitest";
import App from "../../app/App.svelte";
import type { SuitePlan, SuiteRequest } from "../../generated";
import { Fixture } from "../../testing/fakeBackend";

let page: ReturnType<typeof mount> | undefined;
const id = (testid: string) => document.querySelector<HTMLElement>(`[data-testid="${testid}"]`);
const text = (testid: string) => id(testid)?.textContent.replace(/\s+/g, " ") ?? "";
const until = (fn: () => void) =>
  vi.waitFor(() => (flushSync(), fn()), { timeout: 15_000, interval: 10 });
const press = (key: string, more: KeyboardEventInit, target: Element) => {
  target.dispatchEvent(
    new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }),
  );
  flushSync();
};
function type(input: HTMLInputElement, words: string) {
  input.value = words;
  input.dispatchEvent(new Event("input", { bubbles: true }));
  flushSync();
}
const make = () => id("make-suite")?.querySelector<HTMLButtonElement>("button[type=submit]");

const task = (key: string): SuitePlan["tasks"][number] => ({
  key,
  name: key,
  prompt: "How many?",
  has_expected: true,
  runs: 1,
  recorded_by: null,
});
const NOTE = "The tasks differ in `scorers`, which a suite has once: they become 2 files";
const both: SuitePlan = {
  folder: "/work/tasks",
  runs: 2,
  tasks: [task("tickets"), task("plans")],
  used: 2,
  files: [
    { suffix: "-tickets", variations: 1 },
    { suffix: "-plans", variations: 1 },
  ],
  notes: [NOTE],
  preview: null,
};
const one: SuitePlan = {
  ...both,
  used: 1,
  files: [{ suffix: "", variations: 1 }],
  notes: ["Kept from the tasks: `scorers`."],
};

afterEach(async () => {
  if (page) await unmount(page);
  page = undefined;
  document.body.replaceChildren();
});

/** Opens the dialog from the palette. */
async function opened() {
  const backend = new Fixture();
  const made: SuiteRequest[] = [];
  backend.replies.plan_suite = ({ request }) => (request.tasks === null ? both : one);
  backend.replies.make_suite = ({ request }) => {
    made.push(request);
    const { files, notes } = request.tasks === null ? both : one;
    return {
      files: files.map(({ suffix, variations }) => ({
        file: `/work/tasks/${request.name}${suffix}.yaml`,
        task: `${request.name}${suffix}`,
        variations,
      })),
      notes,
    };
  };
  history.replaceState(null, "", "#/runs");
  page = mount(App, { target: document.body, props: { backend } });
  await until(() => expect(document.querySelector("[data-testid=run-row]")).not.toBeNull());
  press("k", { ctrlKey: true }, document.body);
  const field = id("palette")?.querySelector("input");
  if (!field) throw new Error("no palette");
  type(field, "Make a suite of the selection");
  press("Enter", {}, field);
  await until(() => expect(text("make-suite")).toContain("2 of 2 tasks"));
  const name = id("make-suite")?.querySelector<HTMLInputElement>("input:not([type=checkbox])");
  if (!name) throw new Error("no field for the name");
  type(name, "hard");
  return made;
}

it("names each file of tasks that are scored differently, before and after", async () => {
  const made = await opened();
  expect(text("make-suite")).toContain("2 files: /work/tasks/hard-tickets.yaml, 1 task");
  expect(text("make-suite")).toContain(NOTE.replaceAll("`", ""));
  expect(make()?.textContent.trim()).toBe("Make 2 files");
  make()?.click();
  await until(() =>
    expect(text("suite-made")).toContain("/work/tasks/hard-plans.yaml has 1 task."),
  );
  expect(text("suite-made")).toContain("/work/tasks/hard-tickets.yaml has 1 task.");
  expect(text("suite-made")).toContain("Run them from a new launch.");
  expect(made.map(({ name, tasks }) => [name, tasks])).toEqual([["hard", null]]);
});

it("makes one file of tasks that agree, and says what is kept", async () => {
  const made = await opened();
  id("make-suite")?.querySelector<HTMLInputElement>(".tasks input")?.click();
  await until(() => expect(text("make-suite")).toContain("1 of 2 tasks"));
  expect(text("make-suite")).toContain("/work/tasks/hard.yaml");
  expect(text("make-suite")).not.toContain("hard-");
  expect(text("make-suite")).toContain("Kept from the tasks: scorers.");
  expect(make()?.textContent.trim()).toBe("Make");
  make()?.click();
  await until(() => expect(text("suite-made")).toContain("/work/tasks/hard.yaml has 1 task."));
  expect(made[0]?.tasks).toEqual(["plans"]);
});

// The page of a task that has no suite, but runs of other tools.
import { mount, unmount } from "svelte";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import App from "../../app/App.svelte";
import { format, TASKS } from "../../app/route";
import type { TaskPage, TaskView } from "../../generated";
import { Fixture } from "../../testing/fakeBackend";
import { layOut } from "../../testing/runs";

const row = {
  id: "hello",
  name: null,
  prompt: "",
  set: "promptfoo",
  categories: [],
  variations: 0,
  apis: 0,
  expected_calls: 0,
  ambiguous: false,
  recorded_by: "promptfoo",
};
const task = (answers: string[], more_expected = 0): TaskView => ({
  row,
  file: "results.json",
  prompts: [],
  variations: answers.map((text) => ({
    label: "",
    expected: { text, cut: false },
    trouble: null,
  })),
  more_expected,
  user: null,
  expected_tool_calls: [],
  scorers: null,
  query: null,
  problems: [],
});

const list = (cut: TaskPage["cut"]): TaskPage => ({
  all: 1,
  total: 1,
  rows: [row],
  sets: [],
  categories: [],
  cut,
});

let page: ReturnType<typeof mount> | undefined;
let away: () => void;
beforeEach(() => {
  away = layOut();
});
afterEach(async () => {
  if (page) await unmount(page);
  page = undefined;
  document.body.replaceChildren();
  away();
});

it.each([
  ["one answer without a number", task(["a"]), "Expected answer a"],
  ["several with their number", task(["a", "b"]), "Expected answers 2 a b"],
  ["those that are not shown", task(["a", "b"], 21), "Expected answers 23 a b and 21 more"],
  ["that there is none", task([]), "Expected answer Its runs record none."],
])("lists %s", async (_, shown, expected) => {
  const backend = new Fixture();
  backend.replies.list_tasks = () => list(null);
  backend.replies.read_task = () => shown;
  location.hash = format({ ...TASKS, task: "hello" });
  page = mount(App, { target: document.body, props: { backend } });
  const section = () => document.querySelector('[data-testid="task-expected"]');
  await vi.waitFor(() => expect(section()).not.toBeNull(), { timeout: 4000 });
  const words = [...(section()?.querySelectorAll("h3, pre, p") ?? [])];
  const told = words.map((one) => one.textContent.replace(/\s+/g, " ").trim());
  expect(told.join(" ")).toBe(expected);
});

it("says that not all recorded tasks are listed, and only then", async () => {
  const backend = new Fixture();
  backend.replies.read_task = () => task([]);
  const note = () =>
    document.querySelector('[data-testid="task-cut"]')?.textContent.replace(/\s+/g, " ").trim();
  for (const [cut, expected] of [
    [null, undefined],
    [
      { listed: 20_000, all: 23_456 },
      "Of 23,456 tasks that other tools recorded, the first 20,000 by name are listed. Runs has the runs of all.",
    ],
  ] as const) {
    backend.replies.list_tasks = () => list(cut);
    location.hash = format(TASKS);
    page = mount(App, { target: document.body, props: { backend } });
    const count = () => document.querySelector('[data-testid="task-count"]');
    await vi.waitFor(() => expect(count()).not.toBeNull(), { timeout: 4000 });
    expect(note()).toBe(expected);
    await unmount(page);
    page = undefined;
  }
});

it("covers the texts of a task of a scan until a press shows them", async () => {
  const backend = new Fixture();
  const sensitive = { ...row, sensitive: true };
  backend.replies.list_tasks = () => ({ ...list(null), rows: [sensitive] });
  backend.replies.read_task = () => ({
    ...task(["how to do harm"]),
    row: sensitive,
    prompts: [{ system: "", text: { text: "Tell me how to do harm.", cut: false } }],
  });
  location.hash = format({ ...TASKS, task: "hello" });
  page = mount(App, { target: document.body, props: { backend } });
  const cover = () => document.querySelector('[data-testid="sensitive"]');
  await vi.waitFor(() => expect(cover()).not.toBeNull(), { timeout: 4000 });
  expect(document.body.textContent).not.toContain("do harm");
  expect(document.activeElement, "the keys stay with the list").not.toBe(
    cover()?.querySelector("button"),
  );
  cover()?.querySelector("button")?.click();
  await vi.waitFor(() => expect(cover()).toBeNull());
  expect(document.body.textContent).toContain("Tell me how to do harm.");
});

// The page of a task that has no suite, but runs of other tools.
import { mount, unmount } from "svelte";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import App from "../../app/App.svelte";
import { format, TASKS } from "../../app/route";
import type { TaskView } from "../../generated";
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
  expected_tool_calls: [],
  scorers: null,
  query: null,
  problems: [],
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
  const rows = [row];
  backend.replies.list_tasks = () => ({ all: 1, total: 1, rows, sets: [], categories: [] });
  backend.replies.read_task = () => shown;
  location.hash = format({ ...TASKS, task: "hello" });
  page = mount(App, { target: document.body, props: { backend } });
  const section = () => document.querySelector('[data-testid="task-expected"]');
  await vi.waitFor(() => expect(section()).not.toBeNull(), { timeout: 4000 });
  const words = [...(section()?.querySelectorAll("h3, pre, p") ?? [])];
  const told = words.map((one) => one.textContent.replace(/\s+/g, " ").trim());
  expect(told.join(" ")).toBe(expected);
});

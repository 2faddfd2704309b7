// The dialog in which a model writes tasks, from the estimate to the suite.
import { flushSync, mount, unmount } from "svelte";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import App from "../../app/App.svelte";
import { format, TASKS } from "../../app/route";
import type { GenerationRequest, GenerationView } from "../../generated";
import { Fixture } from "../../testing/fakeBackend";
import { layOut } from "../../testing/runs";

let page: ReturnType<typeof mount> | undefined;
let away: () => void;
const id = (testid: string) => document.querySelector<HTMLElement>(`[data-testid="${testid}"]`);
const until = (fn: () => void) =>
  vi.waitFor(() => (flushSync(), fn()), { timeout: 15_000, interval: 10 });
const field = (label: string) => {
  const named = [...document.querySelectorAll("label")].find((one) =>
    one.textContent.startsWith(label),
  );
  const found = named && document.getElementById(named.htmlFor);
  if (!(found instanceof HTMLInputElement || found instanceof HTMLTextAreaElement))
    throw new Error(`no field ${label}`);
  return found;
};
function type(label: string, text: string) {
  const input = field(label);
  input.value = text;
  input.dispatchEvent(new Event("input", { bubbles: true }));
  flushSync();
}
const button = (text: string) =>
  [...document.querySelectorAll<HTMLButtonElement>("dialog button")].find((one) =>
    one.textContent.trim().startsWith(text),
  );

const view = (changes: Partial<GenerationView> = {}): GenerationView => ({
  id: "g1",
  task: "keys",
  file: "/work/tasks/keys.yaml",
  model: "local",
  began_ms: 0,
  state: "running",
  why: null,
  hint: null,
  waiting: null,
  total: 12,
  done: 0,
  written: false,
  calls: 0,
  tokens: 0,
  cost: 0,
  unpriced: false,
  max_cost: null,
  ...changes,
});

beforeEach(() => {
  away = layOut();
  HTMLDialogElement.prototype.showModal ??= function (this: HTMLDialogElement) {
    this.open = true;
  };
});
afterEach(async () => {
  if (page) await unmount(page);
  page = undefined;
  document.body.replaceChildren();
  away();
});

async function opened(backend = new Fixture()) {
  const planned: GenerationRequest[] = [];
  const started: GenerationRequest[] = [];
  const plan = backend.replies.plan_generation;
  backend.replies.plan_generation = (asked) => {
    planned.push(asked.request);
    return plan(asked);
  };
  backend.replies.start_generation = ({ request }) => {
    started.push(request);
    backend.generations = [view()];
    return { generation: "g1" };
  };
  location.hash = format(TASKS);
  page = mount(App, { target: document.body, props: { backend } });
  await until(() => expect(document.querySelector("main")).not.toBeNull());
  await until(() =>
    expect(
      [...document.querySelectorAll("main button")].some((one) =>
        one.textContent.includes("Generate tasks…"),
      ),
    ).toBe(true),
  );
  [...document.querySelectorAll<HTMLButtonElement>("main button")]
    .find((one) => one.textContent.includes("Generate tasks…"))
    ?.click();
  await until(() => expect(id("generate")).not.toBeNull());
  return { backend, planned, started };
}

it("estimates first, starts, shows progress, and opens the suite when it is complete", async () => {
  const { backend, planned, started } = await opened();
  expect(button("Generate")?.disabled).toBe(true);
  type("Text", "The machine has two keys.");
  type("Questions", "12");
  type("Kinds of tasks", "repair it\nbuy it");
  await until(() => expect(id("generate-estimate")?.textContent).toContain("2 requests"));
  expect(planned.at(-1)).toMatchObject({ queries: 12, tasks: ["repair it", "buy it"], file: null });
  expect(button("Generate")?.disabled, "it has no name yet").toBe(true);
  const asked = planned.length;
  type("Suite", "keys");
  await until(() => expect(button("Generate 12 questions")?.disabled).toBe(false));
  expect(planned.length, "a name changes no estimate").toBe(asked);
  button("Generate 12")?.click();
  await until(() => expect(id("generation")?.textContent).toContain("0 of 12 questions"));
  expect(started.at(-1)?.name).toBe("keys");
  backend.generations = [view({ done: 10, calls: 1, cost: 0.01 })];
  backend.tell({ kind: "generations" });
  await until(() => expect(id("generation")?.textContent).toContain("10 of 12 questions"));
  backend.generations = [view({ done: 12, state: "done", written: true })];
  backend.tell({ kind: "generations" });
  await until(() => expect(id("generate")).toBeNull());
  expect(location.hash).toContain("task=keys");
});

it("stops, and keeps the reason beside the suite of what there is", async () => {
  const { backend } = await opened();
  const stops: boolean[] = [];
  backend.replies.stop_generation = ({ now }) => {
    stops.push(now);
    return null;
  };
  type("Text", "The machine has two keys.");
  type("Suite", "keys");
  await until(() => expect(button("Generate 20")?.disabled).toBe(false));
  button("Generate 20")?.click();
  await until(() => expect(button("Stop")).toBeDefined());
  button("Stop")?.click();
  await until(() => expect(stops).toEqual([false]));
  backend.generations = [view({ state: "stopping", done: 5 })];
  backend.tell({ kind: "generations" });
  await until(() => expect(button("Stop now")).toBeDefined());
  backend.generations = [
    view({ state: "stopped", done: 10, total: 20, written: true, why: "It was stopped." }),
  ];
  backend.tell({ kind: "generations" });
  await until(() => expect(id("generation-why")?.textContent).toBe("It was stopped."));
  expect(id("generate")).not.toBeNull();
  button("Open the suite")?.click();
  await until(() => expect(id("generate")).toBeNull());
  expect(location.hash).toContain("task=keys");
});

it("says why nothing can be generated on a read-only page", async () => {
  const backend = new Fixture();
  const options = backend.replies.generation_options({});
  backend.replies.generation_options = async () => ({
    ...(await options),
    models: [],
    why_not: { message: "This page is read-only and cannot generate tasks.", fix: "Start it." },
  });
  await opened(backend);
  await until(() => expect(id("generate-why-not")?.textContent).toContain("read-only"));
});

import { flushSync, mount, tick, unmount } from "svelte";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import App from "../../app/App.svelte";
import { layOut, OneRun, SMALL, view } from "../../testing/runs";

let page: ReturnType<typeof mount> | undefined;
let away: () => void;
const all = (selector: string) => [...document.querySelectorAll<HTMLElement>(selector)];
const until = (fn: () => void) => vi.waitFor(fn, { timeout: 4000, interval: 10 });
const button = (name: string) =>
  all("button").find((one) => one.textContent?.trim().startsWith(name));

beforeEach(() => (away = layOut()));
afterEach(async () => {
  if (page) await unmount(page);
  page = undefined;
  document.body.replaceChildren();
  away();
});

const imported = () =>
  new OneRun(
    view(
      SMALL,
      { task: "t1", system: "mine", model: null, format: "inspect" },
      { own_names: { task: "t1", system: "react", model: null } },
    ),
  );
async function open(backend: OneRun) {
  location.hash = "#/run/r0";
  page = mount(App, { target: document.body, props: { backend } });
  await until(() => expect(all("[data-testid='step']").length).toBeGreaterThan(0));
  await until(() => expect(all(".beside:empty")).toEqual([]));
}

it("a run of another tool is renamed in a dialog that shows the names of its file", async () => {
  const backend = imported();
  const calls: unknown[] = [];
  backend.replies.rename_run = (args) => {
    calls.push(args);
    return null;
  };
  await open(backend);
  button("Rename…")?.click();
  await until(() => expect(all("[data-testid='rename']")).toHaveLength(1));
  const [task, system, model] = all("[data-testid='rename'] input") as HTMLInputElement[];
  expect([task?.value, system?.value, model?.value]).toEqual(["t1", "mine", ""]);
  const dialog = () => all("[data-testid='rename']")[0]?.textContent?.replace(/\s+/g, " ");
  expect(dialog()).toContain("In the file: react");
  expect(dialog()).toContain("The file names none");
  if (!system || !model) throw new Error("fields are missing");
  system.value = " promptql ";
  system.dispatchEvent(new Event("input", { bubbles: true }));
  await tick();
  flushSync();
  button("Save")?.click();
  await until(() => expect(calls).toHaveLength(1));
  expect(calls[0]).toMatchObject({
    id: "r0",
    names: { task: "t1", system: "promptql", model: null },
  });
  await until(() => expect(all("[data-testid='rename']")).toHaveLength(0));
});

it("the details of a renamed run show the names in its file, and the dialog offers known names", async () => {
  const backend = imported();
  const values = [{ value: "promptql", count: 4 }];
  backend.replies.facets = () => ({ keys: [{ key: "system", about: "", values }], parts: [] });
  await open(backend);
  const facts = () => all("#run-side dl").map((one) => one.textContent?.replace(/\s+/g, " "));
  await until(() => expect(facts().join()).toContain("system in the file react"));
  expect(facts().join()).not.toContain("task in the file");
  button("Rename…")?.click();
  await until(() => expect(all("[data-testid='rename'] datalist")).toHaveLength(3));
  await until(() => expect(all("[data-testid='rename'] option")).toHaveLength(1));
  const system = document.querySelector<HTMLInputElement>("[data-testid='rename'] [name=system]");
  expect(system?.list?.options[0]?.value).toBe("promptql");
  if (!system) throw new Error("the field is missing");
  system.value = "promptql";
  system.dispatchEvent(new Event("input", { bubbles: true }));
  await until(() =>
    expect(all("[data-testid='rename']")[0]?.textContent).toContain("Merges with 4 runs"),
  );
});

it("a refusal stays in the dialog with what was typed", async () => {
  const backend = imported();
  backend.replies.rename_run = () =>
    Promise.reject({
      code: "failed",
      message: "touchstone.yaml was not changed.",
      hint: "Fix it.",
    });
  await open(backend);
  button("Rename…")?.click();
  await until(() => expect(button("Save")).toBeDefined());
  button("Save")?.click();
  await until(() =>
    expect(all("[data-testid='rename']")[0]?.textContent).toContain("was not changed"),
  );
});

it("a run of our own cannot be renamed", async () => {
  await open(new OneRun(view(SMALL)));
  expect(button("Rename…")).toBeUndefined();
});

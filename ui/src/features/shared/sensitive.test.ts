import { mount, unmount } from "svelte";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import App from "../../app/App.svelte";
import { Fixture } from "../../testing/fakeBackend";
import { layOut, OneRun, SMALL, view } from "../../testing/runs";
import { foldAll } from "./sensitive.svelte";

let page: ReturnType<typeof mount> | undefined;
const id = (testid: string) => document.querySelector<HTMLElement>(`[data-testid='${testid}']`);
const until = (fn: () => void) => vi.waitFor(fn, { timeout: 4000, interval: 10 });
let away: () => void;
beforeEach(() => {
  foldAll();
  away = layOut();
});
afterEach(async () => {
  if (page) await unmount(page);
  page = undefined;
  document.body.replaceChildren();
  away();
});

it("folds the texts of a sensitive run until a press shows them", async () => {
  const run = view(SMALL, { sensitive: true });
  const backend = new OneRun(run);
  location.hash = "#/run/r0";
  page = mount(App, { target: document.body, props: { backend } });
  await until(() => expect(id("sensitive")).not.toBeNull());
  expect(id("step")).toBeNull();
  expect(document.activeElement).toBe(id("sensitive")?.querySelector("button"));
  id("sensitive")?.querySelector("button")?.click();
  await until(() => expect(id("step")).not.toBeNull());
  expect(id("sensitive")).toBeNull();
});

it("folds a comparison with a sensitive run", async () => {
  const backend = new Fixture();
  backend.rows = backend.rows.map((row, at) => (at === 0 ? { ...row, sensitive: true } : row));
  location.hash = "#/compare?run=r0&run=r1";
  page = mount(App, { target: document.body, props: { backend } });
  await until(() => expect(id("sensitive")).not.toBeNull());
  id("sensitive")?.querySelector("button")?.click();
  await until(() => expect(id("sensitive")).toBeNull());
});

it("has one cover at the search tree, and quotes nothing of a folded run in its header", async () => {
  const run = view(SMALL, {
    sensitive: true,
    scoring: "scored",
    score: 0,
    passed: false,
    score_reason: "It says how to do harm.",
  });
  const backend = new OneRun(run);
  location.hash = "#/run/r0?view=tree";
  page = mount(App, { target: document.body, props: { backend } });
  await until(() => expect(id("sensitive")).not.toBeNull());
  expect(document.querySelectorAll("[data-testid='sensitive']")).toHaveLength(1);
  expect(id("sensitive")?.closest(".away")).toBeNull();
  expect(document.body.textContent).not.toContain("how to do harm");
  id("sensitive")?.querySelector("button")?.click();
  await until(() => expect(document.body.textContent).toContain("how to do harm"));
});

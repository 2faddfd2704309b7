import { flushSync, mount, unmount } from "svelte";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import App from "../../app/App.svelte";
import { evaluation } from "../../testing/evaluate";
import { Fixture } from "../../testing/fakeBackend";
import { judging } from "../../testing/judge";
import { launched } from "../../testing/launch";
import { layOut } from "../../testing/runs";

let page: ReturnType<typeof mount> | undefined;
const id = (testid: string) => document.querySelector<HTMLElement>(`[data-testid='${testid}']`);
const flat = (element: Element | null | undefined) =>
  element?.textContent?.replace(/\s+/g, " ").trim() ?? "";
const until = (fn: () => void) =>
  vi.waitFor(() => {
    flushSync();
    fn();
  }, 8_000);
const press = (name: string) =>
  [...document.querySelectorAll("button")].find((found) => flat(found).startsWith(name))?.click();
const key = (pressed: string, more: KeyboardEventInit = {}) =>
  (document.activeElement ?? document.body).dispatchEvent(
    new KeyboardEvent("keydown", { key: pressed, bubbles: true, cancelable: true, ...more }),
  );
async function open(backend: Fixture, hash: string) {
  history.replaceState(null, "", hash);
  page = mount(App, { target: document.body, props: { backend } });
  await until(() => expect(id("status")).not.toBeNull());
  return backend;
}
/** Runs an action of the palette. */
async function act(words: string) {
  key("k", { ctrlKey: true });
  const typed = () => id("palette")?.querySelector("input");
  await until(() => expect(typed()).not.toBeNull());
  const field = typed() as HTMLInputElement;
  field.value = words;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  await until(() => expect(flat(id("palette")?.querySelector("[role=option]"))).toContain(words));
  id("palette")
    ?.querySelector("[role=option]")
    ?.dispatchEvent(new Event("click", { bubbles: true, cancelable: true }));
}

const GONE = { run: "r1", path: "one.yaml", why: "The reply is not a verdict." };
const OVER = judging("j1", {
  judge: "fac",
  state: "done",
  done: 5,
  failed: 3,
  skipped: 1,
  troubles: [GONE, { ...GONE, why: "And again." }],
});

let away: () => void;
beforeEach(() => (away = layOut()));
afterEach(async () => {
  if (page) await unmount(page);
  page = undefined;
  document.body.replaceChildren();
  away();
});

it("judging at work is in the footer of every place, and one press shows how it stands and stops it", async () => {
  const backend = new Fixture();
  backend.judgings = [judging("j2", { done: 2 }), OVER];
  await open(backend, "#/runs");
  await until(() => expect(flat(id("judging-now"))).toBe("▶ judging running, 2 of 9 · $0.0100"));
  id("judging-now")?.click();
  await until(() => expect(flat(id("judgings"))).toContain("2 of 9 runs Running"));
  press("Stop");
  await until(() =>
    expect(backend.calls.at(-1)).toEqual({ name: "stop_judging", args: { id: "j2", now: false } }),
  );
});

it("Escape closes a dialog at once, so that the next key is meant for what is behind it", async () => {
  const backend = new Fixture();
  backend.judgings = [judging("j2")];
  await open(backend, "#/runs");
  await until(() => expect(id("judging-now")).not.toBeNull());
  id("judging-now")?.click();
  await until(() => expect(id("judgings")?.querySelector("h1")).toBeTruthy());
  const own = id("judgings")?.dispatchEvent(
    new KeyboardEvent("keydown", { key: "Escape", bubbles: true, cancelable: true }),
  );
  flushSync();
  expect(own).toBe(false);
  expect(id("judgings")).toBeNull();
});

it("what could not be judged is there to read after it is over", async () => {
  const backend = new Fixture();
  backend.judgings = [judging("j2", { state: "done", done: 9 }), OVER];
  backend.replies.trust = () => ({ raters: [], pairs: [], reviewed: 3, unreadable: 0, notes: [] });
  await open(backend, "#/trust");
  await until(() => expect(id("trust")).not.toBeNull());
  expect(id("judging-now")).toBeNull();
  await until(() => expect(flat(id("trust"))).toContain("2 judgings so far"));
  press("2 judgings so far");
  await until(() => expect(flat(id("judgings"))).toContain("sopr by local"));
  press("fac by local");
  await until(() =>
    expect(flat(id("judging-troubles"))).toBe(
      "one.yaml: The reply is not a verdict.one.yaml: And again.and 2 more runs",
    ),
  );
});

it("stopping what is running stops launches, evaluations and judging alike, and now what stops already", async () => {
  const backend = new Fixture();
  backend.launches = [launched("l1"), launched("l2", { state: "done" })];
  backend.evaluations = [evaluation("e1", { state: "stopping" }), evaluation("e2")];
  backend.judgings = [judging("j1"), OVER];
  await open(backend, "#/runs");
  await until(() => expect(id("evaluating")).not.toBeNull());
  await act("Stop everything");
  const stops = () => backend.calls.filter((call) => call.name.startsWith("stop_"));
  await until(() => expect(stops().length).toBe(3));
  expect(stops()).toEqual([
    { name: "stop_launch", args: { id: "l1", now: false } },
    { name: "stop_evaluating", args: { id: "e1", now: true } },
    { name: "stop_judging", args: { id: "j1", now: false } },
  ]);
});

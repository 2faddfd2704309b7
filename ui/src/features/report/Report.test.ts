import { flushSync, mount, unmount } from "svelte";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import App from "../../app/App.svelte";
import { Fixture, NO_FAILURES } from "../../testing/fakeBackend";
import type { Report, ReportRequest } from "../../generated";
import { withoutContents } from "./formats";
import { layOut } from "../../testing/runs";

let page: ReturnType<typeof mount> | undefined;
const until = (fn: () => void) => vi.waitFor(fn, { timeout: 4000, interval: 10 });
const field = (label: string) =>
  [...document.querySelectorAll("label")]
    .find((found) => found.textContent.trim().startsWith(label))
    ?.querySelector("input");
const button = (name: string) =>
  [...document.querySelectorAll("button")].find((found) =>
    found.textContent.trim().startsWith(name),
  );

const MADE: Report = {
  text: "# made",
  bytes: 6,
  cut: false,
  base64: false,
  file_name: "made.md",
  media_type: "text/markdown",
  baselines: [],
  scorers: [],
  queries: false,
  runs: 3,
  misread: [],
  redacted: null,
  unreadable: 0,
  causes_unread: 0,
  notes: [],
};

/** Every request for a report that is saved or copied, not only previewed. */
const wanted = (backend: Fixture) =>
  backend.calls
    .filter(
      (call) =>
        call.name === "save_report" ||
        (call.name === "make_report" && (call.args as { whole: boolean }).whole),
    )
    .map((call) => (call.args as { request: ReportRequest }).request);

async function open(format = "markdown") {
  const backend = new Fixture(undefined, undefined, "window");
  backend.replies.make_report = () => ({ ...MADE });
  backend.replies.save_report = () => "/home/zoe/report.md";
  location.hash = `#/report?format=${format}`;
  page = mount(App, { target: document.body, props: { backend } });
  await until(() => expect(button("Copy")?.disabled).toBe(false));
  return backend;
}

function type(label: string, text: string) {
  const input = field(label);
  if (input === null || input === undefined) throw new Error(`there is no ${label}`);
  input.value = text;
  input.dispatchEvent(new Event("input", { bubbles: true }));
  flushSync();
}

let away: () => void;
beforeEach(() => (away = layOut()));
afterEach(async () => {
  if (page) await unmount(page);
  page = undefined;
  document.body.replaceChildren();
  away();
  vi.unstubAllGlobals();
});

it("keeps what was typed a moment ago, and not what the preview still shows", async () => {
  const backend = await open();
  type("Runs", "model:o1");
  type("Title", "Late");
  document.querySelector("form")?.requestSubmit();
  await until(() => expect(wanted(backend)).toHaveLength(1));
  expect(wanted(backend)[0]).toMatchObject({
    filter: "model:o1",
    title: "Late",
    format: "markdown",
  });
  await until(() => expect(location.hash).toContain("q=model"));
});

it("says how many failed runs are read, and is written anew when all are", async () => {
  const backend = await open("markdown");
  let read = 40;
  const map = () => {
    const state = read < 100 ? ("running" as const) : ("done" as const);
    return { ...NO_FAILURES, failed: 100, read, state };
  };
  backend.replies.failures = map;
  backend.replies.make_report = () => ({ ...MADE, causes_unread: 100 - read });
  backend.tell({ kind: "runs", generation: 2, ids: [], all: true });
  await until(() => expect(document.body.textContent).toContain("40 of 100 failed runs so far"));
  button("Stop")?.click();
  await until(() => expect(backend.calls.some(({ name }) => name === "stop_failures")).toBe(true));
  read = 100;
  backend.tell({ kind: "failures" });
  await until(() => expect(document.querySelector("[data-testid=report-causes]")).toBeNull());
  expect(backend.calls.at(-1)?.name).toBe("make_report");
});

it("says of how many failed runs a saved or copied report has the causes", async () => {
  vi.stubGlobal("navigator", { ...navigator, clipboard: { writeText: () => Promise.resolve() } });
  const backend = await open("markdown");
  backend.replies.failures = () => ({ ...NO_FAILURES, failed: 100, read: 40, state: "running" });
  let causes_unread = 60;
  backend.replies.make_report = () => ({ ...MADE, cut: true, causes_unread });
  backend.tell({ kind: "runs", generation: 2, ids: [], all: true });
  await until(() => expect(document.body.textContent).toContain("40 of 100 failed runs so far"));
  expect(document.body.textContent).not.toContain("file is complete");
  button("Copy")?.click();
  await until(() =>
    expect(document.body.textContent).toContain("Copied with the causes of 40 of 100 failed runs."),
  );
  document.querySelector("form")?.requestSubmit();
  await until(() =>
    expect(document.body.textContent).toContain(
      "Saved to /home/zoe/report.md with the causes of 40 of 100 failed runs.",
    ),
  );
  causes_unread = 0;
  backend.tell({ kind: "runs", generation: 3, ids: [], all: true });
  await until(() => expect(document.body.textContent).toContain("file is complete"));
});

it("speaks of reading failed runs where it begins or stops, and shows why it could not", async () => {
  const backend = await open("markdown");
  let read = 40;
  backend.replies.failures = () => ({ ...NO_FAILURES, failed: 100, read, state: "running" });
  backend.replies.make_report = () => ({ ...MADE, causes_unread: 60 });
  backend.replies.stop_failures = () => {
    throw { code: "io", message: "The folder is gone.", hint: null };
  };
  backend.tell({ kind: "runs", generation: 2, ids: [], all: true });
  const spoken = () =>
    [...document.querySelectorAll("form [role=status]")].map((one) => one.textContent.trim());
  await until(() => expect(spoken()).toContain("Reading failed runs…"));
  const before = spoken();
  read = 41;
  backend.tell({ kind: "failures" });
  await until(() => expect(document.body.textContent).toContain("41 of 100 failed runs so far"));
  expect(spoken()).toEqual(before);
  button("Stop")?.click();
  await until(() =>
    expect(document.querySelector("form [role=alert]")?.textContent).toContain(
      "The folder is gone.",
    ),
  );
});

it("says where the report was saved", async () => {
  await open();
  document.querySelector("form")?.requestSubmit();
  await until(() => expect(document.body.textContent).toContain("Saved to /home/zoe/report.md."));
});

it("redacts where the engine does by default, and as chosen", async () => {
  const backend = await open();
  backend.replies.make_report = ({ request }) => ({
    ...MADE,
    redacted: request.redact === false ? null : 2,
    notes: request.redact === false ? [] : ["2 places were redacted: 2 keys."],
  });
  backend.tell({ kind: "runs", generation: 2, ids: [], all: true });
  await until(() => expect(field("Redact")?.checked).toBe(true));
  expect(document.body.textContent).toContain("2 places were redacted");
  field("Redact")?.click();
  await until(() => expect(location.hash).toContain("redact=no"));
  await until(() => expect(field("Redact")?.checked).toBe(false));
  document.querySelector("form")?.requestSubmit();
  await until(() => expect(wanted(backend)).toHaveLength(1));
  expect(wanted(backend)[0]).toMatchObject({ redact: false });
});

it("copies what was typed a moment ago", async () => {
  vi.stubGlobal("navigator", { ...navigator, clipboard: { writeText: () => Promise.resolve() } });
  const backend = await open();
  type("Runs", "model:o3");
  button("Copy")?.click();
  await until(() => expect(wanted(backend)).toHaveLength(1));
  expect(wanted(backend)[0]).toMatchObject({ filter: "model:o3" });
});

it("has the contents of the page in the frame, and takes the keys back when the pointer leaves it", async () => {
  vi.spyOn(URL, "createObjectURL").mockImplementation(() => "blob:1");
  vi.spyOn(URL, "revokeObjectURL").mockImplementation(() => undefined);
  const links = '<a href="#summary">Summary</a><a href="#failures">What went wrong</a>';
  const backend = await open("html");
  backend.replies.make_report = () => ({ ...MADE, text: `<nav>${links}</nav><p>x` });
  backend.tell({ kind: "runs", generation: 2, ids: [], all: true });
  const frame = () => document.querySelector("iframe");
  await until(() => expect(button("What went wrong")).toBeDefined());
  button("What went wrong")?.click();
  await until(() => expect(frame()?.getAttribute("src")).toBe("blob:1#failures"));
  expect(frame()?.getAttribute("sandbox")).toBe("");
  frame()?.dispatchEvent(new Event("pointerenter"));
  frame()?.focus();
  // A text that was selected there can be copied.
  expect(document.activeElement).toBe(frame());
  frame()?.dispatchEvent(new Event("pointerleave"));
  expect(document.activeElement?.getAttribute("aria-label")).toBe("Preview");
  // A person who tabs into the frame reads it by keys.
  frame()?.dispatchEvent(new Event("pointerenter"));
  window.dispatchEvent(new KeyboardEvent("keydown", { key: "Tab" }));
  frame()?.focus();
  frame()?.dispatchEvent(new Event("pointerleave"));
  expect(document.activeElement).toBe(frame());
  vi.restoreAllMocks();
});

it("shows the contents of a report once: above its frame", () => {
  const nav = '<nav aria-label="Sections"><a href="#summary">Summary</a></nav>';
  expect(withoutContents(`<header><p>a</p>${nav}</header><p>x`)).toBe(
    "<header><p>a</p></header><p>x",
  );
  expect(withoutContents("<p>x")).toBe("<p>x");
});

it("leaves the page in its frame where it is when runs change and the report does not", async () => {
  let made = 0;
  vi.spyOn(URL, "createObjectURL").mockImplementation(() => `blob:${String(++made)}`);
  vi.spyOn(URL, "revokeObjectURL").mockImplementation(() => undefined);
  const backend = await open("html");
  const frame = () => document.querySelector("iframe")?.getAttribute("src");
  await until(() => expect(frame()).toBe("blob:1"));
  const asked = () => backend.calls.filter((call) => call.name === "make_report").length;
  const before = asked();
  backend.tell({ kind: "runs", generation: 2, ids: [], all: true });
  await until(() => expect(asked()).toBeGreaterThan(before));
  await until(() =>
    expect(document.querySelector("section[aria-label=Preview]")?.getAttribute("aria-busy")).toBe(
      "false",
    ),
  );
  flushSync();
  expect(frame()).toBe("blob:1");
  backend.replies.make_report = () => ({ ...MADE, text: "# other" });
  backend.tell({ kind: "runs", generation: 3, ids: [], all: true });
  await until(() => expect(frame()).toBe("blob:2"));
  vi.restoreAllMocks();
});

it("says what to change in a filter with a mistake, below its field and in the preview", async () => {
  const backend = await open();
  const misread = [{ token: "stat:error", message: "Did you mean state:error?" }];
  backend.replies.make_report = () => ({ ...MADE, runs: 0, misread });
  type("Runs", "stat:error");
  await until(() =>
    expect(document.querySelector("#filter-misread")?.textContent).toContain("Did you mean"),
  );
  expect(field("Runs")?.getAttribute("aria-invalid")).toBe("true");
  expect(document.querySelector(".empty")?.textContent).toContain("Did you mean state:error?");
});

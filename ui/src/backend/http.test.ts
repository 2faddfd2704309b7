import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { DropEvent, StaleEvent } from "./backend";
import { http } from "./http";

const reply = (body: string, status = 200) =>
  vi.stubGlobal(
    "fetch",
    vi.fn(() => Promise.resolve(new Response(body, { status }))),
  );
const failure = () =>
  http.call("status", {}).then(
    () => null,
    (thrown: unknown) => thrown,
  );
afterEach(() => vi.unstubAllGlobals());

describe("a call over HTTP", () => {
  it("posts its arguments as JSON with the header that other sites cannot send", async () => {
    reply("true");
    expect(await http.call("open_recent", { id: "a" })).toBe(true);
    expect(fetch).toHaveBeenCalledWith("/api/open_recent", {
      method: "POST",
      headers: { "content-type": "application/json", "x-touchstone": "1" },
      body: '{"id":"a"}',
      credentials: "same-origin",
    });
  });
  it.each([
    [
      '{"code":"gone","message":"The file went away.","hint":null}',
      409,
      { code: "gone", message: "The file went away.", hint: null },
    ],
    ["no JSON", 401, { code: "not_allowed" }],
    ["<h1>oops</h1>", 500, { code: "failed", message: "Touchstone answered with status 500." }],
  ])("that fails with %s (%i) throws a sentence", async (body, status, wanted) => {
    reply(body, status);
    expect(await failure()).toMatchObject(wanted);
  });
  it("that nobody answers says how to start the program again", async () => {
    vi.stubGlobal("fetch", () => Promise.reject(new TypeError("Failed to fetch")));
    expect(await failure()).toMatchObject({
      code: "failed",
      hint: expect.stringContaining("touchstone serve") as string,
    });
  });
});

describe("files that are dropped on a served page", () => {
  const dropped = (kind: string) => {
    const event = new Event("drop", { cancelable: true });
    Object.assign(event, { dataTransfer: { types: [kind] } });
    document.dispatchEvent(event);
    return event.defaultPrevented;
  };
  it("are refused with the command that opens them, and do not replace the page", () => {
    const events: DropEvent[] = [];
    const stop = http.onDrop?.((event) => events.push(event));
    expect(dropped("text/plain")).toBe(false);
    expect(events).toEqual([]);
    expect(dropped("Files")).toBe(true);
    expect(events).toMatchObject([
      { kind: "refused", error: { message: expect.stringContaining("cannot see") as string } },
    ]);
    expect(JSON.stringify(events)).toContain("touchstone open PATH");
    stop?.();
    dropped("Files");
    expect(events).toHaveLength(1);
  });
});

describe("the stream of events", () => {
  class Source {
    static readonly CLOSED = 2;
    static all: Source[] = [];
    readyState = 1;
    onmessage?: (message: { data: string }) => void;
    onopen?: () => void;
    onerror?: () => void;
    close = vi.fn();
    constructor(readonly url: string) {
      Source.all.push(this);
    }
  }
  beforeEach(() => {
    Source.all = [];
    vi.useFakeTimers();
    vi.stubGlobal("EventSource", Source);
  });
  afterEach(() => {
    vi.useRealTimers();
    hide(false);
  });
  const hide = (hidden: boolean) => {
    Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  };

  it("tells what comes, at a break that the status is stale, and after it that words were missed", () => {
    const heard: StaleEvent[] = [];
    const stop = http.listen((word) => heard.push(word));
    const [source] = Source.all;
    source?.onopen?.();
    source?.onmessage?.({ data: '{"at_ms":1,"stale":{"kind":"status"}}' });
    source?.onerror?.();
    source?.onerror?.();
    source?.onopen?.();
    expect(heard).toEqual([{ kind: "status" }, { kind: "status" }, { kind: "missed" }]);
    stop();
  });
  it("is opened again when it was closed for good, and not after it was given up", () => {
    const stop = http.listen(() => undefined);
    Source.all[0]!.readyState = Source.CLOSED;
    Source.all[0]?.onerror?.();
    vi.advanceTimersByTime(2_000);
    expect(Source.all.map((source) => source.url)).toEqual(["/api/events", "/api/events"]);
    stop();
    expect(Source.all[1]?.close).toHaveBeenCalled();
    Source.all[1]!.readyState = Source.CLOSED;
    vi.advanceTimersByTime(10_000);
    expect(Source.all.length).toBe(2);
  });
  it("is given up while nobody sees the page, so that other tabs have their connections, and says so afterwards", () => {
    const heard: StaleEvent[] = [];
    const stop = http.listen((word) => heard.push(word));
    Source.all[0]?.onopen?.();
    hide(true);
    vi.advanceTimersByTime(1_000);
    hide(false);
    vi.advanceTimersByTime(10_000);
    expect([Source.all.length, Source.all[0]?.close.mock.calls.length]).toEqual([1, 0]);
    hide(true);
    vi.advanceTimersByTime(10_000);
    expect([Source.all.length, Source.all[0]?.close.mock.calls.length]).toEqual([1, 1]);
    hide(false);
    Source.all[1]?.onopen?.();
    expect([Source.all.length, heard]).toEqual([2, [{ kind: "missed" }]]);
    stop();
    hide(true);
    hide(false);
    expect(Source.all.length).toBe(2);
  });
  it("is not opened for a page that nobody has seen yet", () => {
    hide(true);
    const heard: StaleEvent[] = [];
    const stop = http.listen((word) => heard.push(word));
    vi.advanceTimersByTime(10_000);
    expect(Source.all.length).toBe(0);
    hide(false);
    Source.all[0]?.onopen?.();
    expect(heard).toEqual([{ kind: "missed" }]);
    stop();
  });
});

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { DropEvent } from "./backend";
import { tauri } from "./tauri";

/** The calls of the window, of which only events are answered. */
class Host {
  readonly #callbacks: ((event: unknown) => void)[] = [];
  readonly #events = new Map<string, number>();
  transformCallback = (callback: (event: unknown) => void) => this.#callbacks.push(callback) - 1;
  invoke = (command: string, args: { event: string; handler: number }) => {
    if (command === "plugin:event|listen") this.#events.set(args.event, args.handler);
    return Promise.resolve(1);
  };
  emit(event: string, payload: unknown): void {
    this.#callbacks[this.#events.get(event) ?? -1]?.({ event, id: 1, payload });
  }
}

let host: Host;
beforeEach(() => {
  host = new Host();
  vi.stubGlobal("__TAURI_INTERNALS__", host);
});
afterEach(() => vi.unstubAllGlobals());

describe("files that are dragged over the window", () => {
  it("are shown while they are there, and what the host opened of them follows", () => {
    const events: DropEvent[] = [];
    tauri.onDrop?.((event) => events.push(event));
    const opened = { folder: { id: "f" }, filter: "file:a.json" };
    host.emit("tauri://drag-enter", { paths: ["/a.json"], position: { x: 1, y: 1 } });
    host.emit("tauri://drag-leave", null);
    host.emit("tauri://drag-enter", { paths: ["/a.json"], position: { x: 1, y: 1 } });
    host.emit("tauri://drag-drop", { paths: ["/a.json"], position: { x: 1, y: 1 } });
    host.emit("app_opened", opened);
    expect(events).toEqual([
      { kind: "over" },
      { kind: "left" },
      { kind: "over" },
      { kind: "left" },
      { kind: "opened", opened },
    ]);
  });
});

// Backend of the window: IPC. The only file that imports Tauri.
import { invoke } from "@tauri-apps/api/core";
import { listen as hear } from "@tauri-apps/api/event";
import type { AppError, AppEvent, Opened } from "../generated";
import type { Backend } from "./backend";

/** Tauri event that carries all engine events. */
const EVENT = "app_event";
/** Tauri event that carries errors outside any command. */
const TROUBLE = "app_trouble";
/** Tauri event that says what was opened by dropping it. */
const OPENED = "app_opened";
/** Tauri events of files that are dragged over the window. */
const DRAG = {
  enter: "tauri://drag-enter",
  leave: "tauri://drag-leave",
  drop: "tauri://drag-drop",
};

export const tauri: Backend = {
  host: "window",
  call: (name, args) => invoke(name, args),
  listen(fn) {
    let stopped = false;
    const stop = hear<AppEvent>(EVENT, (event) => {
      if (!stopped) fn(event.payload.stale);
    });
    // Events before the listener was registered are lost.
    void stop.then(() => {
      if (!stopped) fn({ kind: "missed" });
    });
    return () => {
      stopped = true;
      void stop.then((end) => end());
    };
  },
  onTrouble(fn) {
    const stop = hear<AppError>(TROUBLE, (event) => fn(event.payload));
    return () => void stop.then((end) => end());
  },
  // The host opens what is dropped, so the page never names a path.
  onDrop(fn) {
    const stops = [
      hear(DRAG.enter, () => fn({ kind: "over" })),
      hear(DRAG.leave, () => fn({ kind: "left" })),
      hear(DRAG.drop, () => fn({ kind: "left" })),
      hear<Opened>(OPENED, (event) => fn({ kind: "opened", opened: event.payload })),
    ];
    return () => stops.forEach((stop) => void stop.then((end) => end()));
  },
};

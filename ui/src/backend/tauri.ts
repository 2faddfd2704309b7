// The window's form: IPC. The only file that knows Tauri.
import { invoke } from "@tauri-apps/api/core";
import { listen as hear } from "@tauri-apps/api/event";
import type { AppError } from "../generated/AppError";
import type { AppEvent } from "../generated/AppEvent";
import type { Backend } from "./backend";

/** The one event the engine's events travel in. */
const EVENT = "app_event";
/** The one that what failed without being asked for travels in. */
const TROUBLE = "app_trouble";

export const tauri: Backend = {
  host: "window",
  call: (name, args) => invoke(name, args),
  listen(fn) {
    let stopped = false;
    const stop = hear<AppEvent>(EVENT, (event) => {
      if (!stopped) fn(event.payload.stale);
    });
    // What happened before the ear was in place was not heard.
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
};

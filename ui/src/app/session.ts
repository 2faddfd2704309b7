// Services that every view uses, provided by the root.
import { createContext } from "svelte";
import type { Backend } from "../backend/backend";
import type { Keys } from "./keys";
import type { Live } from "../backend/live";
import type { Prefs } from "./prefs";
import type { Router } from "./route";
import type { Announcer } from "./announcer";
import type { WorkList } from "./worklist.svelte";

export interface Session {
  backend: Backend;
  live: Live;
  router: Router;
  keys: Keys;
  prefs: Prefs;
  announcer: Announcer;
  /** The list of the open run. */
  work: WorkList;
}

/** `session()` in a component's script; `openSession(…)` in the root or a test. */
export const [session, openSession] = createContext<Session>();

// Services that every view uses, provided by the root.
import { createContext } from "svelte";
import type { Backend } from "../backend/backend";
import type { Keys } from "./keys";
import type { Live } from "../backend/live";
import type { Prefs } from "./prefs";
import type { Router } from "./route";
import type { Announcer } from "./announcer";

export interface Session {
  backend: Backend;
  live: Live;
  router: Router;
  keys: Keys;
  prefs: Prefs;
  announcer: Announcer;
}

/** `session()` in a component's script; `openSession(…)` in the root or a test. */
export const [session, openSession] = createContext<Session>();

// Chooses between the backends of the window and the server.
import type { Backend } from "./backend";
import { http } from "./http";
import { tauri } from "./tauri";

export const backend = (): Backend => ("__TAURI_INTERNALS__" in window ? tauri : http);

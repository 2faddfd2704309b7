// Which of the two forms this page speaks to.
import type { Backend } from "./backend";
import { http } from "./http";
import { tauri } from "./tauri";

export const backend = (): Backend => ("__TAURI_INTERNALS__" in window ? tauri : http);

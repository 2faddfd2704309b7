// Backend of the served page: one POST per command and one event stream. The cookie set by the
// sign-in address authorises both.
import type { AppError, AppEvent, Commands } from "../generated";
import type { Backend, CommandName, DropEvent, StaleEvent } from "./backend";

/** Forces a preflight from other sites, which the server refuses. */
const HEADERS = { "content-type": "application/json", "x-touchstone": "1" };
const RECONNECT_MS = 2_000;

export const isAppError = (value: unknown): value is AppError =>
  typeof value === "object" && value !== null && "code" in value && "message" in value;

async function failure(reply: Response): Promise<AppError> {
  const said: unknown = await reply.json().catch(() => null);
  if (isAppError(said)) return said;
  if (reply.status === 401 || reply.status === 403) {
    return {
      code: "not_allowed",
      message: "This page is not signed in to Touchstone.",
      hint: "Type `touchstone serve --again` in a terminal and open the address that it prints.",
    };
  }
  return {
    code: "failed",
    message: `Touchstone answered with status ${reply.status}.`,
    hint: null,
  };
}

async function call<N extends CommandName>(name: N, args: Commands[N][0]): Promise<Commands[N][1]> {
  let reply: Response;
  try {
    reply = await fetch(`/api/${name}`, {
      method: "POST",
      headers: HEADERS,
      body: JSON.stringify(args),
      credentials: "same-origin",
    });
  } catch {
    const lost: AppError = {
      code: "failed",
      message: "Touchstone does not respond.",
      hint: "Start `touchstone serve` again; this page then goes on by itself.",
    };
    throw lost;
  }
  if (!reply.ok) throw await failure(reply);
  return (await reply.json()) as Commands[N][1];
}

/**
 * A hidden page closes its stream, because browsers limit the connections of all tabs of an address
 * together.
 */
function listen(fn: (word: StaleEvent) => void): () => void {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let broken = document.hidden;
  const close = () => {
    clearTimeout(timer);
    source?.close();
    source = undefined;
  };
  const open = () => {
    close();
    const stream = (source = new EventSource("/api/events"));
    stream.onmessage = (message: MessageEvent<string>) =>
      fn((JSON.parse(message.data) as AppEvent).stale);
    stream.onopen = () => {
      if (broken) fn({ kind: "missed" });
      broken = false;
    };
    stream.onerror = () => {
      // Requesting the status detects and reports the lost connection.
      if (!broken) fn({ kind: "status" });
      broken = true;
      if (stream.readyState !== EventSource.CLOSED || document.hidden) return;
      clearTimeout(timer);
      timer = setTimeout(open, RECONNECT_MS);
    };
  };
  const look = () => {
    clearTimeout(timer);
    if (document.hidden) {
      timer = setTimeout(() => {
        close();
        broken = true;
      }, RECONNECT_MS);
    } else if (source === undefined || source.readyState === EventSource.CLOSED) open();
  };
  document.addEventListener("visibilitychange", look);
  if (!document.hidden) open();
  return () => {
    document.removeEventListener("visibilitychange", look);
    close();
  };
}

/** Browsers give a page the content of dropped files, but not their paths. */
const NO_PATH: AppError = {
  code: "not_allowed",
  message: "A page in a browser cannot see where a dropped file lies.",
  hint: "Open it from a terminal: touchstone open PATH",
};

/** Refuses dropped files, which the browser would otherwise show in place of the page. */
function onDrop(fn: (event: DropEvent) => void): () => void {
  const isFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") === true;
  const over = (event: DragEvent) => {
    if (isFiles(event)) event.preventDefault();
  };
  const drop = (event: DragEvent) => {
    if (!isFiles(event)) return;
    event.preventDefault();
    fn({ kind: "refused", error: NO_PATH });
  };
  document.addEventListener("dragover", over);
  document.addEventListener("drop", drop);
  return () => {
    document.removeEventListener("dragover", over);
    document.removeEventListener("drop", drop);
  };
}

export const http: Backend = { host: "served", call, listen, onDrop };

// Pure. Where the prompt of a run is shown: in the step that holds it, else above the transcript.
import type { RunView, Task } from "../../generated";

const flat = (text: string): string => text.replace(/\s+/gu, " ").trim();

/** True if the first message of the user, of which the row has the beginning, is this prompt. */
function isHeld(first: string, { body }: NonNullable<Task["prompt"]>): boolean {
  return body.kind !== "table" && flat(body.text).startsWith(flat(first).replace(/…$/u, ""));
}

/**
 * Where the prompt of the task stands: in a step, or above the transcript of a run without messages
 * of a user. Null without a prompt, and where the run was asked something else.
 */
export function promptPlace({ row, task }: RunView): "step" | "transcript" | null {
  if (!task?.prompt || task.user !== null) return null;
  if (row.prompt === null) return "transcript";
  return isHeld(row.prompt, task.prompt) ? "step" : null;
}

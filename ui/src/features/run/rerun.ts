// Pure. Possible actions on an existing run: message, continue, rerun, fork.
import type { Blocker, LaunchOptions, RunView, Step } from "../../generated";

/** The layout in which a conversation can be continued. */
const CONTINUABLE_LAYOUT = "Tool-calling transcript";

const reason = (message: string, fix: string | null = null): Blocker => ({ message, fix });

/** Reason why the run cannot be launched; null if it can, undefined while unknown. */
export function whyNotLaunched(
  view: RunView,
  options: LaunchOptions | undefined,
): Blocker | null | undefined {
  const { row } = view;
  if (row.state === "other") return reason("This file is not a run.");
  if (row.format !== null)
    return reason(`It was recorded by another tool (${view.layout}), and its file is read-only.`);
  if (row.member !== null)
    return reason("It is one of many runs in a file of another program, which is read-only.");
  if (row.task === null || row.system === null || row.model === null)
    return reason(
      "The file name does not contain task, system and model.",
      "Use a name like task-system-model-variation0-run1.yaml.",
    );
  return options === undefined ? undefined : options.why_not;
}

/**
 * Reason why the conversation cannot be continued; null if it can. Advises a rerun only where
 * possible.
 */
export function whyNotContinued(
  view: RunView,
  options: LaunchOptions | undefined,
): Blocker | null | undefined {
  const { row, layout } = view;
  const again = whyNotLaunched(view, options);
  if (row.member !== null || row.format !== null) return again;
  if (row.state === "damaged")
    return reason(
      "The file cannot be read, so it cannot be continued.",
      again ? "Fix it in an editor." : "Fix it in an editor, or rerun it from the start.",
    );
  if (row.state === "writing")
    return reason(
      "The file is being written.",
      again || row.system === "promptql" || layout !== CONTINUABLE_LAYOUT
        ? null
        : "It can be continued when it is complete.",
    );
  if (row.system === "promptql" || layout.startsWith("PromptQL")) {
    const anew = "PromptQL runs cannot be continued.";
    return again
      ? reason(`${anew} ${again.message}`, again.fix)
      : reason(anew, "Rerun it from the start.");
  }
  if (layout !== CONTINUABLE_LAYOUT && row.state !== "other")
    return reason(`A ${layout.toLowerCase()} of another program is read-only.`);
  return again;
}

/** Reason why a rerun is not possible, unless already shown. */
export const newRerunReason = (
  continued: Blocker | null | undefined,
  again: Blocker | null | undefined,
): Blocker | null => (again && continued?.message.includes(again.message) !== true ? again : null);

/** True if the run can be continued without a message. */
export const canContinue = (view: RunView): boolean =>
  view.row.state === "waiting" || view.row.state === "error";

/** True if a message goes to a fork by default: a finished, unmodified run stays unchanged. */
export const sendsToFork = (view: RunView): boolean =>
  view.row.lineage === null && (view.row.state === "answered" || view.row.state === "no_answer");

/** The message that the fork editor starts with. */
export const forkPart = (step: Step | undefined) =>
  step?.kind === "user"
    ? step.parts.find(
        (part) => part.body.kind === "text" && (part.label === "message" || part.label === "text"),
      )
    : undefined;

/** Explains the fork in a sentence. */
export function describeFork(step: Step | undefined, index: number): string {
  const kept = "This run stays unchanged.";
  if (step?.kind === "user")
    return `Copies everything before step ${index + 1} to a new run, with your message in place of step ${index + 1}. ${kept}`;
  return `Copies the steps up to step ${index + 1} to a new run, followed by your message. ${kept}`;
}

// Pure. Possible actions on an existing run: message, continue, rerun, fork.
import type {
  Blocker,
  Choice,
  EditableField,
  EditableStep,
  LaunchOptions,
  RunView,
  Step,
  StepPart,
} from "../../generated";

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
    return reason("It is one of many runs in a file of results, which is read-only.");
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

/** True if the calls of the model of the run are known to cost nothing. */
export const isFree = ({ row }: RunView, options: LaunchOptions | undefined): boolean =>
  options?.models.find(({ name }) => name === row.model)?.is_free ?? false;

/** True if the run can be continued without a message. */
export const canContinue = (view: RunView): boolean =>
  view.row.state === "waiting" || view.row.state === "error";

/** True if a message goes to a fork by default: a finished, unmodified run stays unchanged. */
export const sendsToFork = (view: RunView): boolean =>
  view.row.lineage === null && (view.row.state === "answered" || view.row.state === "no_answer");

/** What the fork editor changes: a part of the step, or nothing, followed by a message. */
export type ForkMode = StepPart | "next";

/** The parts of a step that can be edited, and the message that follows it. */
export function forkModes(step: Step, editable: EditableStep): ForkMode[] {
  const parts = editable.fields.map(({ part }) => part);
  // A message of the user is replaced, or the step before it is followed by one.
  return step.kind === "user" && parts.length > 0 ? parts : [...parts, "next"];
}

/** The name of a mode, on its button and as the name of its field. */
export function modeName(mode: ForkMode, step: Step, field: EditableField | undefined): string {
  if (mode === "next") return "Next message";
  if (mode === "message") return step.kind === "user" ? "Replacement message" : "Reply";
  const name = { arguments: "Arguments", result: "Result", error: "Error" }[mode];
  return mode === "arguments" && field?.argument != null ? `Argument ${field.argument}` : name;
}

/** Explains the fork in a sentence. */
export function describeFork(step: Step, index: number, mode: ForkMode): string {
  const n = index + 1;
  const what = {
    message:
      step.kind === "user"
        ? `Copies everything before step ${n} to a new run, with your message in place of step ${n}.`
        : `Copies the steps up to step ${n} with your text in place of the reply. Tool calls of the same turn stay.`,
    arguments: `Copies the steps up to step ${n} with these arguments, and makes the call again.`,
    result: `Copies the steps up to step ${n}, as if the tool had returned this.`,
    error: `Copies the steps up to step ${n}, as if the call had failed with this.`,
    next: `Copies the steps up to step ${n} to a new run, followed by your message. ${
      step.kind === "assistant"
        ? "Without a message the reply is left out, and the model is asked again."
        : "Without a message the model is asked again."
    }`,
  }[mode];
  return `${what} This run stays unchanged.`;
}

/** Why a text cannot take the place of a part; null if it can. */
export function whyNotEdit(mode: ForkMode, field: EditableField | undefined, text: string) {
  if (mode === "message" && text.trim() === "") return "The message is empty.";
  if (mode !== "arguments" || field?.argument != null) return null;
  try {
    const read: unknown = JSON.parse(text);
    if (typeof read === "object" && read !== null && !Array.isArray(read)) return null;
    return "The arguments have to be a JSON object, in { and }.";
  } catch (error) {
    if (text.trim() === "") return "The arguments are empty. Write {} for none.";
    return `This is not JSON: ${error instanceof Error ? error.message : "it cannot be read"}.`;
  }
}

/** The edit as it is sent; an argument that is edited by itself becomes an object again. */
export const stepEdit = (mode: StepPart, field: EditableField | undefined, text: string) => ({
  part: mode,
  text: field?.argument == null ? text : JSON.stringify({ [field.argument]: text }),
});

/** The models for a fork: that of the run first, then those that can run, then the others. */
export function forkModels(own: string, options: LaunchOptions | undefined): Choice[] {
  const models = options?.models ?? [];
  const why = { message: "It is not in touchstone.yaml.", fix: null };
  const known = models.find(({ name }) => name === own);
  const unknown = { name: own, detail: "", is_free: false };
  const first = known ?? { ...unknown, why_not: options === undefined ? null : why };
  const others = models.filter(({ name }) => name !== own);
  const [can, cannot] = [
    others.filter(({ why_not }) => why_not === null),
    others.filter(({ why_not }) => why_not !== null),
  ];
  return [first, ...can, ...cannot];
}

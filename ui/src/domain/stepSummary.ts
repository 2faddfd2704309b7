// Pure. One-line summaries of steps: speaker, arguments and outcome, and which steps are open by
// default.
import { bytes, counted } from "./format";
import type { CodeLanguage } from "../components/code/tokens";
import type { Language, Part, RunRow, Step } from "../generated";
import { visibleLine } from "../components/visible/visible";

const OUTCOMES = new Set(["result", "error", "output", "stdout", "stderr"]);
const LONGEST = 240;
/** Reasons for which the sandbox ends a program. */
const KILL_REASONS: Record<string, string> = {
  killed: "killed",
  cpu: "out of CPU time",
  memory: "out of memory",
  files: "too many files",
};

export const isCard = (step: Step): boolean =>
  step.kind === "tool_call" || step.kind === "program" || step.kind === "artifact";
const isMedia = (body: Part["body"] | undefined): boolean =>
  body?.kind === "text" && body.language === "media";
/** True for what a call returned: its result, and images and files that came with it. */
export const isOutcome = (part: Pick<Part, "label"> & Partial<Pick<Part, "body">>): boolean =>
  OUTCOMES.has(part.label) || isMedia(part.body);

/** The language in which the text of a part is highlighted. */
export function codeLanguage(language: Language): CodeLanguage {
  return language === "markdown" || language === "media" ? "plain" : language;
}

/** True for a change of files as git writes it, which is code and no Markdown. */
export const isPatch = (text: string): boolean =>
  /^\s*(?:diff --git |--- \S[^\n]*\n\+\+\+ )/u.test(text) ||
  (/^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@/mu.test(text) && !text.includes("```"));

/** What a message after the first one is called. */
export type LaterMessage = "nudge" | "follow-up";
/**
 * What a later message of the user is called. A step does not tell whether a program or a person sent
 * it, so that a run with messages of both has follow-ups only.
 */
export const laterMessage = ({ follow_ups }: Pick<RunRow, "follow_ups">): LaterMessage =>
  follow_ups > 0 ? "follow-up" : "nudge";

/** Name of the speaker. */
export function speakerName(step: Step, model: string | null): string {
  switch (step.kind) {
    case "user":
      return step.title === "simulated" ? "Simulated user" : "User";
    case "system":
      return "System prompt";
    case "error":
      return "Error";
    case "sub_agent":
      return `Sub-agent ${visibleLine(step.title ?? "")}`.trim();
    case "abandoned":
      return "Abandoned branch";
    case "compaction":
      return "Conversation compacted";
    case "note":
      return visibleLine(step.title ?? "Note");
    case "unknown":
      return visibleLine(step.title ?? "Unknown item");
    default:
      // A sub-agent may have another model than the run.
      return visibleLine(step.model ?? (step.depth > 0 ? null : model) ?? "Assistant");
  }
}

/**
 * Failed calls and messages are open by default; successful calls, the system prompt, and what is
 * below a sub-agent or an abandoned branch are folded.
 */
export function isOpenByDefault(step: Step): boolean {
  if (step.depth > 0 || step.kind === "note" || step.kind === "compaction") return false;
  return step.kind === "tool_call" ? step.failed === true : step.kind !== "system";
}

/** The beginning of a part in one line. */
export function previewLine(part: Part): string {
  const { body } = part;
  if (body.kind === "table") return counted(body.total, "row");
  return visibleLine(
    body.text
      .slice(0, LONGEST * 2)
      .replace(/\s+/g, " ")
      .trim(),
  ).slice(0, LONGEST);
}

/** Arguments of a call: a single one as it is, several by name. */
export function argumentsLine(step: Step): string {
  const given = step.parts.filter((part) => !isOutcome(part));
  if (given.length === 1 && given[0]) return previewLine(given[0]);
  return given
    .map((part) => `${part.label}: ${previewLine(part)}`)
    .join(", ")
    .slice(0, LONGEST);
}

/** Failure status of a program from its result; empty for all others. */
function exitStatus({ body }: Part): string {
  if (body.kind !== "value" || !body.whole || !body.text.includes('"exit_code"')) return "";
  try {
    const said: unknown = JSON.parse(body.text);
    if (typeof said !== "object" || said === null || !("exit_code" in said) || said.exit_code === 0)
      return "";
    if ("timed_out" in said && said.timed_out === true) return "timed out";
    if (typeof said.exit_code === "number") return `exit ${String(said.exit_code)}`;
    return "outcome" in said &&
      typeof said.outcome === "string" &&
      Object.hasOwn(KILL_REASONS, said.outcome)
      ? (KILL_REASONS[said.outcome] ?? "")
      : "";
  } catch {
    return "";
  }
}

/** The result of a step in a few words. */
export function describeOutcome(step: Step): string {
  const parts = step.parts.filter(isOutcome);
  const failure = parts.find((part) => part.label === "error");
  if (step.failed && failure) return previewLine(failure);
  if (parts.length === 0) return step.kind === "tool_call" ? "no result" : "";
  const result = parts.find((part) => part.label === "result") ?? parts[0];
  if (!result) return "";
  if (result.body.kind === "table") return counted(result.body.total, "row");
  const text = result.body.text.trim();
  const size =
    result.body.whole && text.length <= 40 && !text.includes("\n")
      ? visibleLine(text) || "empty"
      : bytes(result.bytes);
  return [exitStatus(result), size].filter(Boolean).join(" · ");
}

/** The last part of a path; the tooltip shows the rest. */
export function fileName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
}

/** The beginning of a folded message. */
export function messagePreview(step: Step): string {
  return step.parts[0] ? previewLine(step.parts[0]) : "";
}

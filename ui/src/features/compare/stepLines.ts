// Pure. What a step says in the little room beside another: its name, its first lines, what came back; and the first differences.
import { seconds } from "../../domain/format";
import type { DiffKind } from "../../generated/DiffKind";
import type { Language } from "../../generated/Language";
import type { Part } from "../../generated/Part";
import type { PartDiff } from "../../generated/PartDiff";
import type { Step } from "../../generated/Step";
import type { TextChange } from "../../generated/TextChange";
import { SIGNS } from "../../components/diff/diff";
import type { IconName } from "../../components/Icon.svelte";
import { head } from "../../components/text/lines";
import { visibleLine } from "../../components/visible/visible";
import { isOutcome, previewLine, describeOutcome, speakerName } from "../../domain/stepSummary";

const ICONS: Record<Step["kind"], IconName> = {
  user: "speech",
  assistant: "speech",
  system: "gear",
  tool_call: "tool",
  program: "pen",
  artifact: "file",
  error: "diamond",
  unknown: "dash",
};
export const stepIcon = (step: Step): IconName => ICONS[step.kind];

export const stepName = (step: Step, model: string | null): string =>
  step.kind === "tool_call" || step.kind === "program" || step.kind === "artifact"
    ? visibleLine(step.title ?? (step.kind === "tool_call" ? "tool call" : step.kind))
    : step.nudge
      ? "Nudge"
      : speakerName(step, model);

/** What came of it and how long it took. */
export function stepFacts(step: Step): string {
  return [
    step.failed ? "" : describeOutcome(step),
    step.seconds === null ? "" : seconds(step.seconds),
  ]
    .filter(Boolean)
    .join(" · ");
}

const CHARS = 320;

export interface PreviewText {
  text: string;
  language: Exclude<Language, "markdown">;
  cut: boolean;
}

/** The beginning of a part, of so many lines at most. */
export function previewText(part: Part, lines: number): PreviewText {
  const { body } = part;
  if (body.kind === "table") return { text: previewLine(part), language: "plain", cut: false };
  const text = head(body.text.trim(), lines, CHARS);
  return {
    text,
    language:
      body.kind === "value" ? "json" : body.language === "markdown" ? "plain" : body.language,
    cut: text.length < body.text.trim().length || !body.whole,
  };
}

/** The part that says most about a step: a program or a query, else the longest of what was said or asked. */
export function mainPart(step: Step): Part | undefined {
  const given = step.parts.filter((part) => !isOutcome(part));
  const code = given.find(
    ({ body }) => body.kind === "text" && (body.language === "python" || body.language === "sql"),
  );
  return code ?? given.toSorted((a, b) => b.bytes - a.bytes)[0] ?? step.parts[0];
}

/** Without what differs in spaces only, for languages to which spaces mean nothing: there the right side is shown. */
export function withoutSpaces(pieces: readonly TextChange[]): TextChange[] {
  const changed = (piece: TextChange | undefined) => piece !== undefined && piece.change !== "same";
  const words = (piece: TextChange | undefined) => changed(piece) && piece?.text.trim() !== "";
  return pieces.flatMap((piece, at): TextChange[] => {
    // Spaces beside words that differ belong to them.
    if (!changed(piece) || words(piece) || words(pieces[at - 1]) || words(pieces[at + 1]))
      return [piece];
    return piece.change === "extra" ? [{ text: piece.text, change: "same" }] : [];
  });
}

/** What became of a part; beside another run than the baseline it is said which. */
export function changeWord(kind: DiffKind, other: string | null): string {
  const { word } = SIGNS[kind];
  return other === null
    ? word
    : kind === "changed"
      ? `${word} from ${other}`
      : `${word}, unlike ${other}`;
}

/** Parts that differ, told from those that do not. */
export const differing = (parts: readonly PartDiff[]): PartDiff[] =>
  parts.filter(
    (part) => part.kind === "changed" || part.kind === "missing" || part.kind === "extra",
  );

const BEFORE = 60;
const AFTER = 40;
/** One side of a difference may not push the other out of sight. */
const ONE_SIDE = 180;

/** Of pieces, the differences and a little around them, up to so many characters. */
export function excerpt(
  pieces: readonly TextChange[],
  most: number,
): { pieces: TextChange[]; cut: boolean } {
  const shown: TextChange[] = [];
  let left = most;
  for (const [at, piece] of pieces.entries()) {
    if (left <= 0) return { pieces: shown, cut: true };
    const text =
      piece.change === "same"
        ? around(piece.text, at > 0, at < pieces.length - 1)
        : shortened(piece.text, Math.min(left, ONE_SIDE));
    shown.push({ text, change: piece.change });
    left -= text.length;
  }
  return { pieces: shown, cut: false };
}

/** Of an equal stretch what is next to a difference before it and after it. */
function around(text: string, before: boolean, after: boolean): string {
  const most = (before ? AFTER : 0) + (after ? BEFORE : 0);
  if (text.length <= most + 3) return text;
  return `${before ? truncate(text, AFTER) : ""} … ${after ? text.slice(-BEFORE).replace(/^[\uDC00-\uDFFF]/, "") : ""}`;
}

const shortened = (text: string, most: number): string =>
  text.length > most ? `${truncate(text, most)}…` : text;

/** The beginning of a text; a sign of two halves is not cut. */
const truncate = (text: string, length: number): string =>
  text.slice(0, length).replace(/[\uD800-\uDBFF]$/, "");

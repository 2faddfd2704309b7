// Pure. Short texts for a step in a comparison cell: name, first lines, result and first
// differences.
import { seconds } from "../../domain/format";
import type { DiffKind, Part, PartDiff, RunRow, Step, TextChange } from "../../generated";
import type { CodeLanguage } from "../../components/code/tokens";
import { SIGNS } from "../../components/diff/diff";
import { mergedLines } from "../../components/diff/words";
import type { IconName } from "../../components/Icon.svelte";
import { head } from "../../components/text/lines";
import { visibleLine } from "../../components/visible/visible";
import {
  codeLanguage,
  isOutcome,
  previewLine,
  describeOutcome,
  laterMessage,
  speakerName,
  type LaterMessage,
} from "../../domain/stepSummary";

const ICONS: Record<Step["kind"], IconName> = {
  user: "speech",
  assistant: "speech",
  system: "gear",
  tool_call: "tool",
  program: "pen",
  artifact: "file",
  error: "diamond",
  sub_agent: "branch",
  abandoned: "branch",
  compaction: "dash",
  note: "dash",
  unknown: "dash",
};
export const stepIcon = (step: Step): IconName => ICONS[step.kind];

const LATER: Record<LaterMessage, string> = { nudge: "Nudge", "follow-up": "Follow-up" };
/** Name of a step in a run. */
export const stepName = (step: Step, run: Pick<RunRow, "model" | "follow_ups">): string =>
  step.kind === "tool_call" || step.kind === "program" || step.kind === "artifact"
    ? visibleLine(step.title ?? (step.kind === "tool_call" ? "tool call" : step.kind))
    : step.nudge
      ? LATER[laterMessage(run)]
      : speakerName(step, run.model);

/** Outcome and duration. */
export function stepFacts(step: Step): string {
  return [
    step.failed ? "" : describeOutcome(step),
    step.seconds === null ? "" : seconds(step.seconds),
  ]
    .filter(Boolean)
    .join(" · ");
}

/** Characters for each line of a preview, which may be wrapped. */
const CHARS_A_LINE = 64;

export interface PreviewText {
  text: string;
  language: CodeLanguage;
  cut: boolean;
}

/** The beginning of a part, limited to a number of lines. */
export function previewText(part: Part, lines: number): PreviewText {
  const { body } = part;
  if (body.kind === "table") return { text: previewLine(part), language: "plain", cut: false };
  const text = head(body.text.trim(), lines, lines * CHARS_A_LINE);
  return {
    text,
    language: body.kind === "value" ? "json" : codeLanguage(body.language),
    cut: text.length < body.text.trim().length || !body.whole,
  };
}

/**
 * The most informative part of a step: a program or query, else the longest message or argument.
 */
export function mainPart(step: Step): Part | undefined {
  const given = step.parts.filter((part) => !isOutcome(part));
  const code = given.find(
    ({ body }) => body.kind === "text" && (body.language === "python" || body.language === "sql"),
  );
  return code ?? given.toSorted((a, b) => b.bytes - a.bytes)[0] ?? step.parts[0];
}

/**
 * Drops whitespace-only differences in languages where whitespace is irrelevant; keeps the right
 * side.
 */
export function withoutSpaces(pieces: readonly TextChange[]): TextChange[] {
  const changed = (piece: TextChange | undefined) => piece !== undefined && piece.change !== "same";
  const words = (piece: TextChange | undefined) => changed(piece) && piece?.text.trim() !== "";
  const kept: TextChange[] = [];
  for (const [at, piece] of pieces.entries()) {
    // Whitespace beside changed words belongs to them.
    const isKept =
      !changed(piece) || words(piece) || words(pieces[at - 1]) || words(pieces[at + 1]);
    const last = kept.at(-1);
    if (isKept && !(piece.change === "same" && last?.change === "same")) kept.push({ ...piece });
    else if (isKept && last) last.text += piece.text;
    else if (piece.change === "extra" && last?.change === "same") last.text += piece.text;
    else if (piece.change === "extra") kept.push({ text: piece.text, change: "same" });
  }
  return kept;
}

/** Where the engine has one text after the other, both merged line by line, if they share enough. */
export function byLines(pieces: readonly TextChange[]): readonly TextChange[] {
  const [left, right] = pieces;
  const isWhole = pieces.length === 2 && left?.change === "missing" && right?.change === "extra";
  return (isWhole ? mergedLines(left.text, right.text) : null) ?? pieces;
}

/** The kind of change; names the compared run if it is not the baseline. */
export function changeWord(kind: DiffKind, other: string | null): string {
  const { word } = SIGNS[kind];
  return other === null
    ? word
    : kind === "changed"
      ? `${word} from ${other}`
      : `${word}, unlike ${other}`;
}

/** The kind of change of a step of the baseline, compared with the same step of another run. */
export const baseWord = (kind: DiffKind, other: string): string =>
  kind === "missing" ? `${SIGNS.missing.word} in ${other}` : SIGNS[kind].word;

/** The parts that differ. */
export const differing = (parts: readonly PartDiff[]): PartDiff[] =>
  parts.filter(
    (part) => part.kind === "changed" || part.kind === "missing" || part.kind === "extra",
  );

const BEFORE = 60;
const AFTER = 40;
/** Limits one side of a difference, so that the other stays visible; also as a share of all. */
const ONE_SIDE = 180;
const SHARE = 3 / 7;

/** The differences with some context, up to a number of characters. */
export function excerpt(
  pieces: readonly TextChange[],
  most: number,
): { pieces: TextChange[]; cut: boolean } {
  const shown: TextChange[] = [];
  const oneSide = Math.max(ONE_SIDE, Math.floor(most * SHARE));
  let left = most;
  for (const [at, piece] of pieces.entries()) {
    if (left <= 0) return { pieces: shown, cut: true };
    const text =
      piece.change === "same"
        ? around(piece.text, at > 0, at < pieces.length - 1)
        : shortened(fromDifference(pieces, at), Math.min(left, oneSide));
    shown.push({ text, change: piece.change });
    left -= text.length;
  }
  return { pieces: shown, cut: false };
}

/**
 * The text as one of the runs has it. What only the other run has leaves a gap, unless a text of
 * this run takes its place.
 */
export function ownSide(pieces: readonly TextChange[], side: "left" | "right"): TextChange[] {
  const [own, others] = side === "left" ? ["missing", "extra"] : ["extra", "missing"];
  return pieces.flatMap((piece, at): TextChange[] => {
    if (piece.change !== others) return [piece];
    const isReplaced = [pieces[at - 1], pieces[at + 1]].some((near) => near?.change === own);
    return isReplaced ? [] : [{ text: "", change: "absent" }];
  });
}

/** The text of one of the runs without marks. */
export const unmarked = (pieces: readonly TextChange[], side: "left" | "right"): TextChange[] =>
  ownSide(pieces, side)
    .filter((piece) => piece.change !== "absent")
    .map(({ text }) => ({ text, change: "same" }));

/** The differences as one of the runs has them, at the same places as in the other. */
export function oneSide(
  pieces: readonly TextChange[],
  side: "left" | "right",
  most: number,
): { pieces: TextChange[]; cut: boolean } {
  const all = excerpt(pieces, most);
  return { cut: all.cut, pieces: ownSide(all.pieces, side) };
}

/** A changed piece from shortly before where it differs from the piece that takes its place. */
function fromDifference(pieces: readonly TextChange[], at: number): string {
  const text = pieces[at]?.text ?? "";
  const near = pieces[at]?.change === "missing" ? pieces[at + 1] : pieces[at - 1];
  const other =
    near !== undefined && near.change !== "same" && near.change !== pieces[at]?.change
      ? near.text
      : "";
  let equal = 0;
  while (equal < text.length && text[equal] === other[equal]) equal++;
  if (equal <= BEFORE || equal === text.length) return text;
  return `…${lastWords(text.slice(0, equal), BEFORE)}${text.slice(equal)}`;
}

/** Lines of an equal piece beside a difference, so that it is within the lines of a closed step. */
const NEAR_LINES = 2;

/** The ends of an equal piece that are next to differences. */
function around(text: string, before: boolean, after: boolean): string {
  const most = (before ? AFTER : 0) + (after ? BEFORE : 0);
  const lines = text.split("\n");
  if (text.length <= most + 3 && lines.length <= NEAR_LINES) return text;
  const head = before ? firstWords(lines.slice(0, NEAR_LINES).join("\n"), AFTER) : "";
  const tail = after ? lastWords(lines.slice(-NEAR_LINES).join("\n"), BEFORE) : "";
  return `${head} … ${tail}`;
}

const shortened = (text: string, most: number): string =>
  text.length > most ? `${firstWords(text, most)}…` : text;

/** The beginning of a text up to the end of a word, unless a word is very long. */
function firstWords(text: string, most: number): string {
  if (text.length <= most) return text;
  const cut = text.slice(0, most);
  const end = /\s/.test(text.charAt(most)) ? most : cut.search(/\s\S*$/);
  return end >= most / 2 ? cut.slice(0, end) : cut.replace(/[\uD800-\uDBFF]$/, "");
}

/** The end of a text from the beginning of a word on, unless a word is very long. */
function lastWords(text: string, most: number): string {
  if (text.length <= most) return text;
  const cut = text.slice(-most);
  if (/\s/.test(text.charAt(text.length - most - 1))) return cut;
  const space = cut.search(/\s/);
  return space >= 0 && space <= most / 2
    ? cut.slice(space + 1)
    : cut.replace(/^[\uDC00-\uDFFF]/, "");
}

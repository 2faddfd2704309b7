// Pure. The answer of the overview in plain words: who is highest, who is not shown to differ from it,
// and which of these is cheapest and fastest.
import { figureText } from "../../domain/figures";
import { causeOf } from "../../domain/failures";
import { count, counted } from "../../domain/format";
import type { FailureMap, LeaderboardRow } from "../../generated";
import { nameOf, referenceOf } from "./leaderboard";

const NAMED = 2;
/** `b/o1`, `b/o1 and c/o1`, or `5 others`. */
const names = (rows: readonly LeaderboardRow[]): string =>
  rows.length <= NAMED ? rows.map(nameOf).join(" and ") : counted(rows.length, "other", "others");

/** `Only 1 task or variation in common: too few to tell.` */
function tooFew(rows: readonly LeaderboardRow[]): string {
  const shared = rows.map((row) => row.shared_tasks ?? 0);
  const [least, most] = [Math.min(...shared), Math.max(...shared)];
  const tasks = counted(most, "task or variation", "tasks and variations");
  return `Only ${least === most ? tasks : `${count(least)} to ${tasks}`} in common: too few to tell.`;
}

/** Who is highest; null where no system is, so that the engine's sentence stands. */
export function answer(rows: readonly LeaderboardRow[]): string | null {
  const first = referenceOf(rows);
  if (first?.score == null) return null;
  const score = `${figureText(first.score, "score").value} over ${counted(first.score.known, "run")}`;
  const apart = rows.filter((row) => row !== first && row.standing === "apart");
  const aside =
    apart.length === 0
      ? ""
      : ` ${names(apart)} ${apart.length === 1 ? "has" : "have"} no tasks in common with it and ${apart.length === 1 ? "is" : "are"} not ranked.`;
  // The scores of systems without a common task may be higher.
  const shared = apart.length === 0 ? "" : " that share tasks with it";
  if (first.standing === "best")
    return `${nameOf(first)} is best (${score}); all others${shared} are shown to be worse.${aside}`;
  const among = apart.length === 0 ? "" : " of those that share tasks";
  return `${nameOf(first)} scores highest${among} (${score})${besides(rows, first)}${aside}`;
}

/** What is known of the others that share tasks with the highest one, as the end of its sentence. */
function besides(rows: readonly LeaderboardRow[], first: LeaderboardRow): string {
  const others = rows.filter((row) => row !== first && row.standing !== "apart");
  if (others.length > 0 && others.every((row) => row.has_too_few)) return `. ${tooFew(others)}`;
  const said = (some: readonly LeaderboardRow[], one: string, many: string, what: string) =>
    some.length === 0 ? [] : [`${names(some)} ${some.length === 1 ? one : many} ${what}`];
  const tied = others.filter((row) => row.standing === "tied");
  const [short, alike] = [
    tied.filter((row) => row.has_too_few),
    tied.filter((row) => !row.has_too_few),
  ];
  const open = others.filter((row) => row.standing === "open");
  const parts = [
    ...said(alike, "is", "are", "not shown to differ from it"),
    ...said(short, "has", "have", "too few tasks to tell"),
    ...said(open, "is", "are", "undecided"),
  ];
  const last = parts.pop();
  if (last === undefined) return ".";
  return `; ${parts.length === 0 ? "" : `${parts.join(", ")}, and `}${last}.`;
}

/** True if a row passes less often than the first one; then its price is no argument for it. */
const passesLess = (row: LeaderboardRow, first: LeaderboardRow): boolean =>
  row.passes !== null && first.passes !== null && row.passes.value < first.passes.value;

/** How good a row is: `passes 40 %`, or its score where nothing passes or fails. */
const worth = ({ passes, score }: LeaderboardRow): string =>
  passes !== null
    ? `passes ${figureText(passes, "passes").value}`
    : `scores ${figureText(score, "score").value}`;

/** The row with the least cost or time; null where fewer than two are known. */
function least(rows: readonly LeaderboardRow[], measure: "cost" | "seconds") {
  const known = rows.filter((row) => row[measure] !== null);
  const [row] = [...known].sort((a, b) => (a[measure]?.value ?? 0) - (b[measure]?.value ?? 0));
  if (known.length < 2 || row === undefined) return null;
  const unknown = rows.length - known.length;
  return {
    row,
    text: figureText(row[measure], measure).value,
    unknown:
      unknown === 0
        ? []
        : [`${measure === "cost" ? "cost" : "time"} unknown for ${count(unknown)}`],
  };
}

/**
 * The cheapest and the fastest of those that are not shown to differ, each with its pass rate;
 * empty without a choice.
 */
export function choice(rows: readonly LeaderboardRow[]): string {
  const first = referenceOf(rows);
  if (first === undefined) return "";
  const alike = rows.filter(
    (row) =>
      row === first || (row.standing === "tied" && !row.has_too_few && !passesLess(row, first)),
  );
  if (alike.length < 2) return "";
  const said = (row: LeaderboardRow, word: string, amount: string, unknown: readonly string[]) =>
    `${nameOf(row)} is ${word} (${[`${amount} a run`, worth(row), ...unknown].join(", ")})`;
  const [cheap, fast] = [least(alike, "cost"), least(alike, "seconds")];
  const parts =
    cheap !== null && cheap.row === fast?.row
      ? [
          said(cheap.row, "cheapest and fastest", `${cheap.text} and ${fast.text}`, [
            ...cheap.unknown,
            ...fast.unknown,
          ]),
        ]
      : [
          cheap && said(cheap.row, "cheapest", cheap.text, cheap.unknown),
          fast && said(fast.row, "fastest", fast.text, fast.unknown),
        ].filter((part) => part !== null);
  return parts.length === 0
    ? ""
    : `Of those ${first.passes === null ? "not shown to differ" : "that pass as often"}, ${parts.join("; ")}.`;
}

const CAUSES = 2;
/**
 * The most frequent kinds of causes, with the cause in the address of Failures. Errors, which say
 * nothing about an answer, are named only if nothing else is.
 */
export function topCauses({ kinds, clusters }: Pick<FailureMap, "kinds" | "clusters">) {
  const found = kinds.filter((kind) => kind.runs > 0);
  const wrong = found.filter((kind) => !kind.is_error);
  return (wrong.length > 0 ? wrong : found)
    .toSorted((a, b) => b.runs - a.runs)
    .slice(0, CAUSES)
    .map(({ kind, title, is_error, runs, causes }) => {
      // The list shows a kind with one cause as that cause.
      const only = causes <= 1 ? clusters.find((one) => one.kind === kind && one.runs > 0) : null;
      const cause = only ? causeOf(only) : JSON.stringify(["kind", kind, ""]);
      const name = only?.title ?? title;
      return { title: is_error ? `${name} (error)` : name, runs, cause };
    });
}

/** Runs that ended in an error, beside others that failed; 0 if none else did. */
export const errorsBeside = ({ kinds }: Pick<FailureMap, "kinds">): number =>
  kinds.some((kind) => kind.runs > 0 && !kind.is_error)
    ? kinds.filter((kind) => kind.is_error).reduce((sum, kind) => sum + kind.runs, 0)
    : 0;

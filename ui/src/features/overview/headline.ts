// Pure. The answer of the overview in plain words: who is highest, who cannot be told apart from it,
// and which of these is cheapest and fastest.
import { figureText } from "../../domain/figures";
import { causeOf } from "../../domain/failures";
import { count, counted } from "../../domain/format";
import { visibleLine } from "../../components/visible/visible";
import type { FailureMap, LeaderboardRow } from "../../generated";
import { referenceOf } from "./leaderboard";

const nameOf = (row: LeaderboardRow): string =>
  visibleLine(`${row.system ?? "no system"}/${row.model ?? "no model"}`);

const NAMED = 2;
/** `b/o1`, `b/o1 and c/o1`, or `5 others`. */
const others = (rows: readonly LeaderboardRow[]): string =>
  rows.length <= NAMED ? rows.map(nameOf).join(" and ") : counted(rows.length, "other", "others");

/** Who is highest; null where no system is, so that the engine's sentence stands. */
export function answer(rows: readonly LeaderboardRow[]): string | null {
  const first = referenceOf(rows);
  if (first?.score == null) return null;
  const score = `${figureText(first.score, "score").value} over ${counted(first.score.known, "run")}`;
  const apart = rows.filter((row) => row !== first && row.standing === "apart");
  const aside =
    apart.length === 0
      ? ""
      : ` ${others(apart)} ${apart.length === 1 ? "has" : "have"} no tasks in common with it and ${apart.length === 1 ? "is" : "are"} not ranked.`;
  // The scores of systems without a common task may be higher.
  const shared = apart.length === 0 ? "" : " that share tasks with it";
  if (first.standing === "best")
    return `${nameOf(first)} is best (${score}); all others${shared} are shown to be worse.${aside}`;
  const alike = rows.filter((row) => row !== first && row.standing === "tied");
  const open = rows.filter((row) => row !== first && row.standing === "open");
  const parts = [
    alike.length === 0 ? "" : `${others(alike)} can't be told apart from it`,
    open.length === 0 ? "" : `${others(open)} ${open.length === 1 ? "is" : "are"} undecided`,
  ].filter((part) => part !== "");
  const rest = parts.length === 0 ? "" : `; ${parts.join(", and ")}`;
  const among = apart.length === 0 ? "" : " of those that share tasks";
  return `${nameOf(first)} scores highest${among} (${score})${rest}.${aside}`;
}

/** The cheapest and the fastest of those that are not shown to be worse; empty without a choice. */
export function choice(rows: readonly LeaderboardRow[]): string {
  const first = referenceOf(rows);
  const alike = rows.filter((row) => row === first || row.standing === "tied");
  if (first === undefined || alike.length < 2) return "";
  const least = (measure: "cost" | "seconds") => {
    const known = alike.filter((row) => row[measure] !== null);
    const [one] = [...known].sort(
      (a, b) => (a[measure]?.value ?? Infinity) - (b[measure]?.value ?? Infinity),
    );
    return known.length < 2 || one === undefined
      ? null
      : {
          row: one,
          text: figureText(one[measure], measure).value,
          unknown: alike.length - known.length,
        };
  };
  const [cheap, fast] = [least("cost"), least("seconds")];
  const unknown =
    cheap !== null && cheap.unknown > 0 ? `, cost unknown for ${count(cheap.unknown)}` : "";
  if (cheap !== null && cheap.row === fast?.row)
    return `Of those that can't be told apart, ${nameOf(cheap.row)} is cheapest and fastest (${cheap.text} and ${fast.text} a run${unknown}).`;
  const parts = [
    cheap === null ? "" : `${nameOf(cheap.row)} is cheapest (${cheap.text} a run${unknown})`,
    fast === null ? "" : `${nameOf(fast.row)} is fastest (${fast.text} a run)`,
  ].filter((part) => part !== "");
  return parts.length === 0 ? "" : `Of those that can't be told apart, ${parts.join(", ")}.`;
}

const CAUSES = 2;
/** The most frequent kinds of causes, with the cause in the address of Failures. */
export const topCauses = ({ kinds, clusters }: Pick<FailureMap, "kinds" | "clusters">) =>
  [...kinds]
    .filter((kind) => kind.runs > 0)
    .sort((a, b) => b.runs - a.runs)
    .slice(0, CAUSES)
    .map(({ kind, title, runs, causes }) => {
      // The list shows a kind with one cause as that cause.
      const only = causes <= 1 ? clusters.find((one) => one.kind === kind && one.runs > 0) : null;
      const cause = only ? causeOf(only) : JSON.stringify(["kind", kind, ""]);
      return { title, runs, cause };
    });

// Pure. Which two answers are beside each other, and what of all of them is said in a line.
import type { ComparedRun } from "../../generated/ComparedRun";
import type { DiffKind } from "../../generated/DiffKind";

/** Positions of runs; nothing on the left is what was expected. */
export interface Pair {
  left: number | null;
  right: number;
}

/** What is looked at first: a run that answers otherwise than the one the others are compared with, else that one beside what was expected. */
export function firstPair(runs: readonly ComparedRun[], base: number): Pair {
  const other = runs.findIndex((run, at) => at !== base && run.answer === "changed");
  return other < 0 ? { left: null, right: base } : { left: base, right: other };
}

const readable = (run: ComparedRun): boolean => run.trouble === null;

/** How the answers relate to that of the baseline, in a few words; what differs stands with each run. */
export function answersLine(runs: readonly ComparedRun[], base: number): string {
  const others = runs.filter((run, at) => at !== base && readable(run));
  const some = (...kinds: DiffKind[]) =>
    others.filter(({ answer }) => kinds.includes(answer)).length;
  const all = (...kinds: DiffKind[]) => some(...kinds) === others.length;
  if (others.length === 0) return "nothing to compare them with";
  if (all("same")) return others.length === 1 ? "both are the same" : "all are the same";
  if (all("same", "alike")) return "the same, written otherwise";
  if (all("absent")) return "none of these runs answered";
  if (some("extra") > 0) return "the baseline has no answer";
  if (all("missing")) return "only the baseline has an answer";
  return others.length === 1
    ? "they differ"
    : `${some("changed", "missing")} of ${others.length} differ from that of the baseline`;
}

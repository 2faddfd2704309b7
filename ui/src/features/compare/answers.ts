// Pure. Selects the two answers shown side by side and summarises all answers in a line.
import type { ComparedRun, DiffKind } from "../../generated";

/** Indexes of runs; null on the left is the expected answer. */
export interface Pair {
  left: number | null;
  right: number;
}

/**
 * The default pair: the first run whose answer differs from the baseline, else the baseline against
 * the expected answer.
 */
export function firstPair(runs: readonly ComparedRun[], base: number): Pair {
  const other = runs.findIndex((run, at) => at !== base && run.answer === "changed");
  return other < 0 ? { left: null, right: base } : { left: base, right: other };
}

const readable = (run: ComparedRun): boolean => run.trouble === null;

/**
 * Compares the answers with the baseline's in a few words; each column shows its own differences.
 */
export function answersLine(runs: readonly ComparedRun[], base: number): string {
  const others = runs.filter((run, at) => at !== base && readable(run));
  const some = (...kinds: DiffKind[]) =>
    others.filter(({ answer }) => kinds.includes(answer)).length;
  const all = (...kinds: DiffKind[]) => some(...kinds) === others.length;
  if (others.length === 0) return "nothing to compare with";
  if (all("same")) return others.length === 1 ? "equal" : "all equal";
  if (all("same", "alike")) return "equal, written differently";
  if (all("absent")) return "no answers";
  if (some("extra") > 0) return "the baseline has no answer";
  if (all("missing")) return "only the baseline has an answer";
  return others.length === 1
    ? "they differ"
    : `${some("changed", "missing")} of ${others.length} differ from the baseline`;
}

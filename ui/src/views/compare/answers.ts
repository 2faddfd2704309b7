// Pure. Which two answers are beside each other, and what of all of them is said in a line.
import type { ComparedRun } from "../../generated/ComparedRun";

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

/** How the answers relate to that of the first run, in one line. */
export function answersLine(runs: readonly ComparedRun[], names: readonly string[], base: number): string {
  const others = runs.map((run, at) => ({ run, name: names[at] ?? "" })).filter(({ run }, at) => at !== base && readable(run));
  const all = (kinds: readonly string[]) => others.length > 0 && others.every(({ run }) => kinds.includes(run.answer));
  if (others.length === 0) return "nothing to compare them with";
  if (all(["same"])) return runs.length === 2 ? "both are the same" : "all are the same";
  if (all(["same", "alike"])) return "the same, written otherwise";
  if (all(["absent"])) return "none of these runs answered";
  const words = { same: "the same", alike: "the same, written otherwise", changed: "differs", missing: "no answer", extra: "the only one with an answer", absent: "no answer" };
  const said = others.map(({ run, name }) => `${name}: ${run.answer_summary ?? words[run.answer]}`);
  return `against ${names[base] ?? "the first"} – ${said.join(" · ")}`;
}

// Pure. How intervals of mean scores are made, in words.
import type { IntervalMethod } from "../generated";

export const METHODS: Record<IntervalMethod, string> = {
  wilson: "Wilson's",
  bootstrap: "by drawing tasks",
  student: "Student's t over tasks",
};

/** Explains intervals beside each other; empty if there are none. */
export function intervalsText(methods: readonly (IntervalMethod | null)[]): string {
  const used = [...new Set(methods)].filter((method) => method !== null);
  const rate = "Wilson's, where all scores are 0 or 1: wide also if all runs pass or all fail";
  const others = used.filter((method) => method !== "wilson").map((method) => METHODS[method]);
  if (used.length === 0) return "";
  if (others.length === 0) return `95 % intervals: ${rate}`;
  if (!used.includes("wilson")) return `95 % intervals: ${others.join(" or ")}`;
  return `95 % intervals: ${rate}; else ${others.join(" or ")}`;
}

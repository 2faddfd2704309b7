// Pure. Figures that the file of a run lacks, so that they are missed nowhere.
import type { OutlineMark, RunView } from "../../generated";

type Figures = Pick<RunView, "pace" | "total_steps"> & {
  row: Pick<RunView["row"], "seconds" | "tokens" | "cost">;
};

/** What is not in the file: `cost, times per step`; empty if everything is there. */
export function notInFile(
  { row, pace, total_steps }: Figures,
  marks: readonly OutlineMark[],
): string {
  if (total_steps === 0 || marks.length === 0) return "";
  const lacks = (name: string, whole: number | null, ofStep: (mark: OutlineMark) => unknown) =>
    marks.some((mark) => ofStep(mark) !== null) ? "" : whole === null ? name : `${name} per step`;
  return [
    row.cost === null ? "cost" : "",
    pace === null ? lacks("times", row.seconds, (mark) => mark.seconds) : "",
    lacks("tokens", row.tokens, (mark) => mark.tokens),
  ]
    .filter((name) => name !== "")
    .join(", ");
}

// Compared runs for tests.
import type { ComparedRun, CompareRow, Comparison, Relation, RunRow, StepDiff } from "../generated";

/** A row in which every run has the same step, or only the named ones. */
export const line = (
  relation: Relation,
  steps: (number | null)[],
  change: Partial<CompareRow> = {},
): CompareRow => ({
  steps,
  depth: 0,
  relation,
  diverges: relation === "different" || relation === "similar",
  title: "query_tickets",
  ...change,
});

export const comparedRun = (row: RunRow, change: Partial<ComparedRun> = {}): ComparedRun => ({
  row,
  version: "v1",
  steps: 12,
  trouble: null,
  parts_at: null,
  leaves_at: null,
  edited: null,
  answer: "same",
  answer_summary: null,
  ...change,
});

/**
 * Three equal steps, one reworded, two equal, the first difference, and one that only the last run
 * has.
 */
export function beside(runs: readonly RunRow[], change: Partial<Comparison> = {}): Comparison {
  const all = (step: number) => runs.map(() => step);
  const rows: CompareRow[] = [
    line("same", all(0)),
    line("reworded", all(1)),
    line("same", all(2)),
    line("same_result", all(3)),
    line("same", all(4)),
    line("same", all(5)),
    line("similar", all(6)),
    line(
      "alone",
      runs.map((_, at) => (at === runs.length - 1 ? 7 : null)),
      { diverges: true },
    ),
    line(
      "alone",
      runs.map((_, at) => (at === runs.length - 1 ? 8 : null)),
      { diverges: true },
    ),
    line("different", all(9)),
  ];
  const of = (row: RunRow, at: number) =>
    comparedRun(
      row,
      at === 0
        ? {}
        : { parts_at: 6, leaves_at: 6, answer: "changed", answer_summary: "8 of 10 rows right" },
    );
  return {
    runs: runs.map(of),
    stored: [],
    rows,
    first_divergence: 6,
    first_other_result: null,
    coarse: false,
    notes: [],
    ...change,
  };
}

/** Difference of a step: its query but not its result. */
export const stepDiff = (step: number): StepDiff => ({
  parts: [
    {
      label: "sql",
      kind: "changed",
      summary: null,
      whole: true,
      coarse: false,
      pieces: [
        { text: "SELECT id FROM ", change: "same" },
        { text: "ticket", change: "missing" },
        { text: `tickets_${step}`, change: "extra" },
      ],
    },
    { label: "result", kind: "same", summary: null, whole: true, coarse: false, pieces: [] },
  ],
});

// Scores and comparisons for tests.
import type {
  DiffCell,
  DiffKind,
  DiffLine,
  DiffRequest,
  DiffRow,
  DiffView,
  JudgeChoice,
  JudgingView,
  RunScores,
} from "../generated";

export const SCORES: RunScores = {
  scores: [
    {
      scorer: "fields",
      version: 1,
      standing: "scored",
      score: 0.8,
      passed: false,
      reason: "8 of 10 rows right, 1 missing (103), 1 field differs: priority_score 84.1 → 81.9",
      detail: [
        { name: "precision", value: "0.89" },
        { name: "recall", value: "0.80" },
      ],
    },
    {
      scorer: "kendall_tau",
      version: 2,
      standing: "scored",
      score: 0.6,
      passed: true,
      reason: "τ 0.8, less 0.2 for 1 missing item",
      detail: [],
    },
    {
      scorer: "python",
      version: 1,
      standing: "waiting",
      score: null,
      passed: null,
      reason: "It runs a program and has to be asked for.",
      detail: [],
    },
  ],
  class: "wrong_answer",
  review: null,
  others: [],
  judged: [],
  stored: [],
  notes: [],
};

/** An available judge. */
export const judge = (
  name: string,
  what: string,
  rounds: number,
  official: boolean,
  change: Partial<JudgeChoice> = {},
): JudgeChoice => ({
  name,
  what,
  version: 1,
  rounds,
  pairs: false,
  official,
  group: "StableToolBench",
  safety: false,
  scale: "solved or unsolved",
  needs: "",
  threshold: null,
  suite_model: null,
  suite_rounds: null,
  suite_threshold: null,
  ...change,
});

/** An active judging job. */
export const judging = (id: string, change: Partial<JudgingView> = {}): JudgingView => ({
  id,
  judge: "sopr",
  model: "local",
  began_ms: 0,
  state: "running",
  why: null,
  total: 9,
  done: 0,
  unread: 0,
  failed: 0,
  skipped: 0,
  calls: 1,
  tokens: 10,
  cost: 0.01,
  unpriced: false,
  max_cost: null,
  troubles: [],
  rates: null,
  ...change,
});

const cell = (
  kind: DiffKind,
  left: string | null,
  right: string | null = null,
  note: string | null = null,
): DiffCell => ({ kind, left, right, note });

/** An item of a list of tickets. */
export function ticket(
  at: number,
  kind: DiffKind = "same",
  change: Partial<DiffRow> = {},
): DiffRow {
  const id = String(100 + at);
  const alone = kind === "missing" || kind === "extra";
  const side = (value: string) =>
    kind === "extra"
      ? cell("extra", null, value)
      : kind === "missing"
        ? cell("missing", value)
        : cell("same", value);
  const score =
    kind === "changed"
      ? cell("changed", "84.1", "81.9")
      : kind === "alike"
        ? cell("alike", "84.1", "84.10", "other notation")
        : side(`${90 - (at % 50)}.5`);
  return {
    kind,
    label: id,
    from: kind === "extra" ? null : at + 1,
    to: kind === "missing" ? null : at + 1,
    moved: false,
    cells: [side(id), score, alone && kind === "extra" ? cell("extra", null, "high") : side("low")],
    ...change,
  };
}

/** Ten tickets: one missing, one extra, one changed, one moved, one only written differently. */
export const TEN: DiffRow[] = [
  ticket(0),
  ticket(1, "changed"),
  ticket(2),
  ticket(3, "missing"),
  ticket(4),
  ticket(5, "alike"),
  ticket(6, "same", { moved: true, to: 9 }),
  ticket(7),
  ticket(8, "extra"),
  ticket(9),
];

const pair = (number: number, change: DiffKind, left: string, right = left): DiffLine => ({
  kind: "pair",
  change,
  left:
    change === "extra"
      ? null
      : { number, pieces: [{ text: left, change: change === "changed" ? "missing" : "same" }] },
  right:
    change === "missing"
      ? null
      : { number, pieces: [{ text: right, change: change === "changed" ? "extra" : "same" }] },
});

function linesOf(rows: readonly DiffRow[], changedOnly: boolean): DiffLine[] {
  const all = rows.map((row, at) =>
    pair(
      at + 1,
      row.kind,
      `- ticket_id: ${row.label} # ${row.cells[1]?.left ?? row.cells[1]?.right ?? ""}`,
      `- ticket_id: ${row.label} # ${row.cells[1]?.right ?? row.cells[1]?.left ?? ""}`,
    ),
  );
  if (!changedOnly) return all;
  return all.reduce<DiffLine[]>((shown, line) => {
    const last = shown.at(-1);
    if (line.kind === "folded" || line.change !== "same") return [...shown, line];
    return last?.kind === "folded"
      ? [...shown.slice(0, -1), { kind: "folded", count: last.count + 1 }]
      : [...shown, { kind: "folded", count: 1 }];
  }, []);
}

const differing = (row: DiffRow) => row.kind !== "same" || row.moved;

/** The engine's summary of these rows. */
export function compared(
  all: readonly DiffRow[],
  request: DiffRequest,
  change: Partial<DiffView> = {},
): DiffView {
  const rows = request.changed_only ? all.filter(differing) : [...all];
  const lines = linesOf(all, request.changed_only);
  const wrong = all.filter(differing).length;
  const part = <T>(list: T[], { offset, limit }: { offset: number; limit: number }) =>
    list.slice(offset, offset + limit);
  return {
    summary:
      wrong === 0
        ? `all ${all.length} rows right`
        : `${all.length - wrong} of ${all.length} rows right, 1 missing (103)`,
    equal: wrong === 0,
    coarse: false,
    aligned: "by ticket_id",
    columns: [
      { name: "ticket_id", numeric: true },
      { name: "priority_score", numeric: true },
      { name: "urgency", numeric: false },
    ],
    rows: part(rows, request.rows),
    total_rows: rows.length,
    lines: part(lines, request.lines),
    total_lines: lines.length,
    stops: lines.flatMap((line, at) =>
      line.kind === "pair" && line.change !== "same" ? [at] : [],
    ),
    notes: [],
    ...change,
  };
}

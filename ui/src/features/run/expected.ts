// Pure. What a run should have answered, and what else its row has.
import { isUnreadable } from "../../domain/states";
import type { Fact, Part, RunView } from "../../generated";

/** Columns of rows of evaluations that hold the expected answer, by their usual names. */
const EXPECTED = /^(inputs|outputs)\.(ground_truth|expected|expected_output)$/u;

/** The column of an evaluated row that holds its expected answer. */
const expectedColumn = ({ task, facts }: Pick<RunView, "task" | "facts">): Fact | undefined =>
  task === null ? facts.find(({ key }) => EXPECTED.test(key)) : undefined;

/** The expected output of the task, or that of the row. */
export const expectedOf = (view: Pick<RunView, "task" | "facts">): Part | null =>
  view.task?.expected ?? expectedColumn(view)?.part ?? null;

/** Columns of a row that has no messages; empty where there is a conversation. */
export const columnsOf = ({ row, total_steps, facts }: RunView): Fact[] =>
  row.member !== null && total_steps === 0 && !isUnreadable(row) ? facts : [];

/** What else the file says, without the expected answer. */
export const otherFacts = (view: Pick<RunView, "task" | "facts">): Fact[] =>
  view.facts.filter((fact) => fact !== expectedColumn(view));

// Keyboard actions of the comparison. Knows the operations of the page, not its rendering.
import type { Action } from "../../app/keys";
import { onAnswerRows, toDifferences, type AnswerPage } from "../shared/answerActions";
import { moving, paging } from "../shared/moving";

export interface Page extends AnswerPage {
  /** True if keys act on the rows, not on a box within them or on the answers. */
  rows: () => boolean;
  move: (by: number) => void;
  end: (last: boolean) => void;
  scroll: (pages: number) => void;
  open: () => void;
  fold: () => void;
  foldAll: () => void;
  column: (by: 1 | -1) => void;
  /** Opens the run of the current column. */
  openRun: () => void;
  pin: () => void;
  drop: () => void;
  swap: (by: 1 | -1) => void;
  other: () => void;
  link: () => void;
  answers: () => void;
  answersOpen: () => boolean;
  leave: () => void;
}

const group = "Compare";

function onRuns(page: Page): Action[] {
  return [
    {
      id: "compare-column-left",
      title: "The run to the left",
      group,
      keys: ["h", "ArrowLeft"],
      quiet: true,
      when: page.rows,
      run: () => page.column(-1),
    },
    {
      id: "compare-column-right",
      title: "The run to the right",
      group,
      keys: ["l", "ArrowRight"],
      quiet: true,
      when: page.rows,
      run: () => page.column(1),
    },
    {
      id: "compare-open-run",
      title: "Open the run of this column, at this step",
      group,
      keys: ["O"],
      run: page.openRun,
    },
    {
      id: "compare-pin",
      title: "Make the run of this column the baseline",
      group,
      keys: ["p"],
      run: page.pin,
    },
    {
      id: "compare-drop",
      title: "Remove the run of this column",
      group,
      keys: ["x"],
      run: page.drop,
    },
    {
      id: "compare-swap-left",
      title: "Swap the run of this column with the one to the left",
      group,
      keys: ["H"],
      run: () => page.swap(-1),
    },
    {
      id: "compare-swap-right",
      title: "Swap the run of this column with the one to the right",
      group,
      keys: ["L"],
      run: () => page.swap(1),
    },
    {
      id: "compare-other",
      title: "Compare the run of this column with others…",
      group,
      keys: ["c"],
      run: page.other,
    },
  ];
}

function onAnswers(page: Page): Action[] {
  return [
    {
      id: "compare-answers",
      title: "Show or hide the answers side by side",
      group,
      keys: ["a"],
      run: page.answers,
    },
    {
      id: "compare-answer-form",
      title: "Toggle table and YAML of the answers",
      group,
      keys: ["t"],
      when: page.answersOpen,
      run: page.flipForm,
    },
    ...onAnswerRows(page, group, "compare-answer-", "row of the answers"),
  ];
}

export function actions(page: Page): Action[] {
  const when = page.rows;
  return [
    ...toDifferences(page, group, "compare-difference"),
    ...moving({ group, id: "compare-", of: "step", when, move: page.move, end: page.end }),
    ...paging({ group, id: "compare-", when }, 0.8, page.scroll),
    {
      id: "compare-open",
      title: "Expand or collapse the steps; unfold equal ones",
      group,
      keys: ["Enter", "o"],
      when,
      run: page.open,
    },
    {
      id: "compare-fold",
      title: "Fold or unfold the equal steps here",
      group,
      keys: ["f"],
      when,
      run: page.fold,
    },
    {
      id: "compare-fold-all",
      title: "Fold or unfold all equal steps",
      group,
      keys: ["F"],
      when,
      run: page.foldAll,
    },
    ...onAnswers(page),
    ...onRuns(page),
    { id: "compare-link", title: "Copy a link to this row", group, keys: ["y"], run: page.link },
    { id: "compare-back", title: "Back", group, keys: ["Escape"], run: page.leave },
  ];
}

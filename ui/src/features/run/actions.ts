// Keyboard actions of the run page. Knows its operations, not its rendering.
import type { Verdict } from "../../generated";
import type { Action } from "../../app/keys";
import { onAnswerRows, toDifferences, type AnswerPage } from "../shared/answerActions";
import { moving, paging } from "../shared/moving";

export interface Page extends AnswerPage {
  move: (by: number) => void;
  end: (last: boolean) => void;
  scroll: (pages: number) => void;
  fold: () => void;
  foldAll: () => void;
  /** Goes to the step that opens the group of the current one. */
  outer: () => void;
  /** True if there are groups. */
  nested: () => boolean;
  find: () => void;
  hit: (by: 1 | -1) => void;
  finding: () => boolean;
  raw: () => void;
  side: () => void;
  link: () => void;
  /** Opens the dialog that writes the run for another tool. */
  export: () => void;
  /** Switches between transcript and answer. */
  flipView: () => void;
  /** Switches between transcript and search tree. */
  flipTree: () => void;
  /** Says that there is no search tree. */
  noTree: () => void;
  /** True if a search tree exists. */
  tree: () => boolean;
  /** Goes to the next failed call, error, or difference of the answer. */
  failure: (by: 1 | -1) => void;
  say: (verdict: Verdict) => void;
  /** Undoes the latest verdict. */
  undo: () => void;
  note: () => void;
  /** Opens the picker of labels. */
  label: () => void;
  /** Edits the note on the current step. */
  noteStep: () => void;
  /** True if the run can be reviewed. */
  reviewable: () => boolean;
  judge: () => void;
  /** True if the run can be judged. */
  judgeable: () => boolean;
  leave: () => void;
  /** True if there is a transcript. */
  steps: () => boolean;
}

const REVIEW = "Review";

/** Actions of the review. */
function saying(page: Page): Action[] {
  const when = page.reviewable;
  const of = (id: string, title: string, key: string, verdict: Verdict): Action => ({
    id,
    title,
    group: REVIEW,
    keys: [key],
    when,
    run: () => page.say(verdict),
  });
  return [
    of("review-right", "Mark right", "1", "right"),
    of("review-partly", "Mark partly right", "2", "partly"),
    of("review-wrong", "Mark wrong", "3", "wrong"),
    {
      id: "review-undo",
      title: "Undo the verdict or label",
      group: REVIEW,
      keys: ["0", "Mod+z"],
      when,
      run: page.undo,
    },
    {
      id: "review-label",
      title: "Label…",
      group: REVIEW,
      keys: ["l"],
      when,
      run: page.label,
    },
    { id: "review-note", title: "Write a note", group: REVIEW, keys: ["w"], when, run: page.note },
  ];
}

/** Actions of the answer comparison. */
function comparing(page: Page): Action[] {
  const group = "Answer";
  const when = page.answering;
  return [
    {
      id: "run-answer",
      title: "Toggle answer and transcript",
      group,
      keys: ["a"],
      run: page.flipView,
    },
    ...toDifferences(page, group, "run-difference"),
    {
      id: "answer-form",
      title: "Toggle table and YAML",
      group,
      keys: ["t"],
      when,
      run: page.flipForm,
    },
    ...onAnswerRows(page, group, "answer-", "row"),
  ];
}

export function actions(page: Page): Action[] {
  const group = "Run";
  const when = page.steps;
  return [
    ...comparing(page),
    ...saying(page),
    ...moving({ group, id: "step-", of: "step", when, move: page.move, end: page.end }),
    ...paging({ group, id: "step-", when }, 0.9, page.scroll),
    {
      id: "step-fold",
      title: "Fold or unfold the step",
      group,
      keys: ["f", "o", "Enter"],
      when,
      run: page.fold,
    },
    {
      id: "step-fold-all",
      title: "Fold or unfold every step",
      group,
      keys: ["F"],
      when,
      run: page.foldAll,
    },
    {
      id: "step-outer",
      title: "Go to the enclosing sub-agent",
      group,
      keys: ["h"],
      when: page.nested,
      run: page.outer,
    },
    {
      id: "run-failure",
      title: "Next failure in the run",
      group,
      keys: ["x", "F8"],
      run: () => page.failure(1),
    },
    {
      id: "run-failure-back",
      title: "Previous failure in the run",
      group,
      keys: ["X", "Shift+F8"],
      run: () => page.failure(-1),
    },
    {
      id: "step-note",
      title: "Note on this step",
      group: REVIEW,
      keys: ["N"],
      when: () => page.reviewable() && page.steps(),
      run: page.noteStep,
    },
    { id: "run-export", title: "Export the run…", group, run: page.export },
    { id: "run-find", title: "Find in this run", group, keys: ["Mod+f"], run: page.find },
    {
      id: "run-find-next",
      title: "Next hit",
      group,
      keys: ["F3", "Mod+g"],
      quiet: true,
      when: page.finding,
      run: () => page.hit(1),
    },
    {
      id: "run-find-previous",
      title: "Previous hit",
      group,
      keys: ["Shift+F3", "Mod+Shift+g"],
      quiet: true,
      when: page.finding,
      run: () => page.hit(-1),
    },
    {
      id: "run-tree",
      title: "Toggle search tree and transcript",
      group,
      keys: ["T"],
      when: page.tree,
      run: page.flipTree,
    },
    {
      id: "run-no-tree",
      title: "Toggle search tree and transcript",
      group,
      keys: ["T"],
      quiet: true,
      when: () => !page.tree(),
      run: page.noTree,
    },
    {
      id: "run-judge",
      title: "Judge…",
      group,
      when: page.judgeable,
      run: page.judge,
    },
    {
      id: "run-raw",
      title: "Toggle raw file and transcript",
      group,
      keys: ["u"],
      run: page.raw,
    },
    {
      id: "run-side",
      title: "Show or hide answer, task and files",
      group,
      keys: ["s"],
      run: page.side,
    },
    { id: "run-link", title: "Copy a link to this step", group, keys: ["y"], run: page.link },
    { id: "run-back", title: "Back to the list", group, keys: ["Escape"], run: page.leave },
  ];
}

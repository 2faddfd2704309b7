// Keyboard actions within the answers that are compared.
import type { Action } from "../../app/keys";
import { moving } from "./moving";

export interface AnswerPage {
  /** True if keys act on the answers. */
  answering: () => boolean;
  moveRow: (by: number) => void;
  endRow: (last: boolean) => void;
  openRow: () => void;
  flipForm: () => void;
  difference: (by: 1 | -1) => void;
}

/** Makes the actions on the rows of the answers. */
export function onAnswerRows(page: AnswerPage, group: string, id: string, of: string): Action[] {
  const when = page.answering;
  return [
    ...moving({ group, id, of, when, move: page.moveRow, end: page.endRow }),
    {
      id: `${id}open`,
      title: `Expand the ${of}`,
      group,
      keys: ["f", "o", "Enter"],
      quiet: true,
      when,
      run: page.openRow,
    },
  ];
}

/** Makes the actions that go from difference to difference. */
export const toDifferences = (page: AnswerPage, group: string, id: string): Action[] => [
  {
    id,
    title: "Next difference",
    group,
    keys: ["d"],
    run: () => page.difference(1),
  },
  {
    id: `${id}-back`,
    title: "Previous difference",
    group,
    keys: ["D"],
    run: () => page.difference(-1),
  },
];

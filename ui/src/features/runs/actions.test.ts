import { describe, expect, it } from "vitest";
import { runRow } from "../../testing/fakeBackend";
import type { RunRow } from "../../generated";
import { Announcer } from "../../app/announcer";
import type { RunList } from "./list";
import { moveTo, type Table } from "./actions";
import { RunSelection } from "./selection";

/** A table whose first ten rows are loaded; further rows wait for `reply`. */
function stage() {
  const asked: {
    from: number;
    to: number;
    reply: (rows?: RunRow[]) => void;
    fail: (message: string) => void;
  }[] = [];
  const list = {
    total: 100,
    row: (index: number) => (index < 10 ? runRow(index) : undefined),
    range: (from: number, to: number) =>
      new Promise<RunRow[]>((resolve, reject) => {
        const reply = () =>
          resolve(Array.from({ length: to - from + 1 }, (_, at) => runRow(from + at)));
        asked.push({ from, to, reply, fail: (message) => reject(new Error(message)) });
      }),
  };
  const table = {
    list: list as unknown as RunList,
    selection: new RunSelection(),
    announcer: new Announcer(),
    reveal: () => undefined,
  } as unknown as Table;
  return { asked, table, selection: table.selection };
}

describe("a selection that is drawn out", () => {
  it("is from where it began to the cursor", async () => {
    const { asked, table, selection } = stage();
    await moveTo(table, 4);
    const drawn = moveTo(table, 6, true);
    asked[0]?.reply();
    await drawn;
    expect(selection.ids).toEqual(["r4", "r5", "r6"]);
  });
  it("is the last one, whichever rows come first", async () => {
    const { asked, table, selection } = stage();
    const both = [moveTo(table, 60, true), moveTo(table, 3, true)];
    asked[1]?.reply();
    asked[0]?.reply();
    await Promise.all(both);
    expect(selection.ids).toEqual(["r0", "r1", "r2", "r3"]);
  });
  it("undoes nothing that was chosen while its rows were long in coming", async () => {
    const { asked, table, selection } = stage();
    const drawn = moveTo(table, 60, true);
    selection.clear();
    selection.toggle(runRow(2));
    asked[0]?.reply();
    await drawn;
    expect(selection.ids).toEqual(["r2"]);
  });
  it("begins where it began also after the row under the cursor is known, or stands elsewhere", async () => {
    const { asked, table, selection } = stage();
    await moveTo(table, 4);
    const drawn = moveTo(table, 60, true);
    selection.follow(60, "r60");
    asked[0]?.reply();
    await drawn;
    expect([selection.anchor, selection.size]).toEqual([4, 57]);
    selection.follow(63, "r60");
    expect([selection.anchor, selection.cursor]).toEqual([7, 63]);
  });
  it("that fails says so and leaves what was selected", async () => {
    const { asked, table, selection } = stage();
    selection.toggle(runRow(1));
    const drawn = moveTo(table, 60, true);
    asked[0]?.fail("The index went away.");
    await drawn;
    expect([selection.ids, table.announcer.text]).toEqual([
      ["r1"],
      "Not selected: The index went away.",
    ]);
    table.announcer.say("");
  });
});

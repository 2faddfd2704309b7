import { describe, expect, it } from "vitest";
import { runRow } from "../../testing/fakeBackend";
import type { RunRow } from "../../generated/RunRow";
import { Voice } from "../../app/voice";
import type { RunList } from "./list";
import { moveTo, type Table } from "./moves";
import { Picks } from "./picked";

/** A table of rows that are known up to the tenth; what is asked for beyond waits for `reply`. */
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
    picks: new Picks(),
    voice: new Voice(),
    reveal: () => undefined,
  } as unknown as Table;
  return { asked, table, picks: table.picks };
}

describe("a selection that is drawn out", () => {
  it("is from where it began to the cursor", async () => {
    const { asked, table, picks } = stage();
    await moveTo(table, 4);
    const drawn = moveTo(table, 6, true);
    asked[0]?.reply();
    await drawn;
    expect(picks.ids).toEqual(["r4", "r5", "r6"]);
  });
  it("is the last one, whichever rows come first", async () => {
    const { asked, table, picks } = stage();
    const both = [moveTo(table, 60, true), moveTo(table, 3, true)];
    asked[1]?.reply();
    asked[0]?.reply();
    await Promise.all(both);
    expect(picks.ids).toEqual(["r0", "r1", "r2", "r3"]);
  });
  it("undoes nothing that was chosen while its rows were long in coming", async () => {
    const { asked, table, picks } = stage();
    const drawn = moveTo(table, 60, true);
    picks.clear();
    picks.toggle(runRow(2));
    asked[0]?.reply();
    await drawn;
    expect(picks.ids).toEqual(["r2"]);
  });
  it("begins where it began also after the row under the cursor is known, or stands elsewhere", async () => {
    const { asked, table, picks } = stage();
    await moveTo(table, 4);
    const drawn = moveTo(table, 60, true);
    picks.follow(60, "r60");
    asked[0]?.reply();
    await drawn;
    expect([picks.anchor, picks.size]).toEqual([4, 57]);
    picks.follow(63, "r60");
    expect([picks.anchor, picks.cursor]).toEqual([7, 63]);
  });
  it("that fails says so and leaves what was selected", async () => {
    const { asked, table, picks } = stage();
    picks.toggle(runRow(1));
    const drawn = moveTo(table, 60, true);
    asked[0]?.fail("The index went away.");
    await drawn;
    expect([picks.ids, table.voice.text]).toEqual([["r1"], "Not selected: The index went away."]);
    table.voice.say("");
  });
});

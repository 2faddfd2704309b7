import { expect, it } from "vitest";
import { RunSelection, type SelectedRun } from "./selection";

const run = (id: string): SelectedRun => ({ id, path: `${id}.yaml`, state: "answered" });
const ids = (paths: readonly string[]) => paths.map((path) => path.replace(".yaml", ""));
/** A search that answers when it is told to. */
function later() {
  const waiting: (() => void)[] = [];
  const asked: string[][] = [];
  return {
    asked,
    find: (paths: readonly string[]) =>
      new Promise<readonly string[]>((done) => {
        asked.push(ids(paths));
        waiting.push(() => done(ids(paths).filter((id) => id !== "gone")));
      }),
    answer: async () => {
      waiting.shift()?.();
      await new Promise((done) => setTimeout(done, 0));
    },
  };
}
const nowhere = () => false;

it("hides what another filter may hide until it is found, and keeps what is known under the same", async () => {
  const selection = new RunSelection();
  selection.only([run("a"), run("gone")]);
  const search = later();
  void selection.relist("x", nowhere, search.find);
  expect([selection.hidden, selection.size]).toEqual([2, 0]);
  await search.answer();
  expect([selection.hidden, selection.size]).toEqual([1, 2]);
  // A run was added to the list: until the search ends, actions take the same runs.
  void selection.relist("x", nowhere, search.find);
  expect([selection.hidden, selection.size]).toEqual([1, 2]);
  await search.answer();
  expect([selection.hidden, selection.size]).toEqual([1, 2]);
});

it("searches once more, not once for each change that comes during a search", async () => {
  const selection = new RunSelection();
  selection.only([run("a")]);
  const search = later();
  const first = selection.relist("", nowhere, search.find);
  for (let change = 0; change < 5; change++) void selection.relist("", nowhere, search.find);
  await search.answer();
  while (search.asked.length < 2) await new Promise((done) => setTimeout(done, 1));
  await search.answer();
  await first;
  expect(search.asked).toHaveLength(2);
});

it("leaves a search of an older filter without effect", async () => {
  const selection = new RunSelection();
  selection.only([run("a")]);
  const [old, now] = [later(), later()];
  void selection.relist("old", nowhere, old.find);
  void selection.relist("now", nowhere, now.find);
  await old.answer();
  expect(selection.hidden).toBe(1);
  await now.answer();
  expect(selection.hidden).toBe(0);
});

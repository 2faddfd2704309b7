import { flushSync } from "svelte";
import { afterEach, expect, it } from "vitest";
import { type Action, Keys } from "./keys";

const action = (id: string): Action => ({ id, title: id, group: "x", run: () => undefined });
let stop: () => void = () => undefined;
afterEach(() => stop());

it("what is shown of the actions follows those that appear and go", () => {
  const keys = new Keys();
  let shown: string[] = [];
  stop = $effect.root(() => {
    $effect(() => {
      shown = keys.all().map(({ id }) => id);
    });
  });
  keys.add([action("first")]);
  flushSync();
  expect(shown).toEqual(["first"]);
  const remove = keys.add([action("later")]);
  flushSync();
  expect(shown).toEqual(["first", "later"]);
  remove();
  flushSync();
  expect(shown).toEqual(["first"]);
});

import { expect, it } from "vitest";
import { countedOnly } from "./leftOut";

it("lists the counted runs alone, naming only what is left out", () => {
  const none = { forks_left_out: 0, replays_left_out: 0, evaluations_left_out: 0 };
  expect(countedOnly("task:a", none)).toBe("task:a");
  expect(countedOnly("", { ...none, replays_left_out: 2 })).toBe("-model:replay");
  expect(countedOnly("task:a", { ...none, forks_left_out: 1, evaluations_left_out: 8 })).toBe(
    "task:a forked:no -format:evaluated",
  );
});

import { describe, expect, it } from "vitest";
import { runRow } from "../../testing/fakeBackend";
import { view } from "../../testing/runs";
import { continuedText, isAnswerWrong, wrappedFailure } from "./failures";

const FAILED = [3, 7, 20];

describe("the next failure", () => {
  it.each([
    ["after the first step is the first one", 0, 1, { step: 3, number: 1 }],
    ["after a failure is the next one", 3, 1, { step: 7, number: 2 }],
    ["after the last one is the answer", 20, 1, "answer"],
    ["before a step is the one before it", 19, -1, { step: 7, number: 2 }],
    ["before the answer is the last step that failed", "answer", -1, { step: 20, number: 3 }],
  ] as const)("%s", (_, from, by, failure) =>
    expect(wrappedFailure(FAILED, true, from, by)).toEqual({ failure, wrapped: false }),
  );
  it.each([
    ["after the answer is the first one again", true, "answer", 1, { step: 3, number: 1 }],
    [
      "after the last one is the first where the answer is right",
      false,
      20,
      1,
      { step: 3, number: 1 },
    ],
    ["before the first one is the answer again", true, 3, -1, "answer"],
    [
      "before the first one is the last where the answer is right",
      false,
      3,
      -1,
      { step: 20, number: 3 },
    ],
  ] as const)("%s", (_, answer, from, by, failure) =>
    expect(wrappedFailure(FAILED, answer, from, by)).toEqual({ failure, wrapped: true }),
  );
  it("is none where nothing failed", () => expect(wrappedFailure([], false, 3, 1)).toBeNull());
});

it.each([
  [2, 2, -1, "Continued from the end"],
  [2, 2, 1, "Continued from the top"],
  [2, 12, 1, "Continued from the top; 10 more failures are not listed"],
] as const)("of %i listed of %i failures it is said where it goes on", (listed, all, by, words) => {
  const outline = {
    version: "v1",
    total_steps: 99,
    marks: [],
    failures: Array.from({ length: listed }, (_, at) => at),
    failure_count: all,
  };
  expect(continuedText(outline, by)).toBe(words);
});

it("an answer is a failure if it is compared and does not pass", () => {
  const part = { id: "e", label: "x", bytes: 1, body: { kind: "value", text: "1", whole: true } };
  const expected = part as never;
  const task = {
    file: "a.yaml",
    prompt: null,
    parameters: [],
    user: null,
    expected_tool_calls: [],
    expected,
  } as never;
  const answer = { part: expected, source: "answer", lenient: false };
  const row = (passed: boolean | null) => runRow(0, { state: "answered", passed });
  expect(isAnswerWrong(view([], row(false), { task, answer }))).toBe(true);
  expect(isAnswerWrong(view([], row(true), { task, answer }))).toBe(false);
  expect(isAnswerWrong(view([], row(false), { task, answer: null }))).toBe(false);
});

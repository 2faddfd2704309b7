import { afterEach, expect, it, vi } from "vitest";
import type { Review } from "../../generated";
import { reviewDrafts } from "./reviewDrafts";
import { ReviewEditor, wrongLabel } from "./review.svelte";

afterEach(() => reviewDrafts.delete("run"));

/** A run with saved reviews and the content on disk. */
function reviewed() {
  const disk = { review: null as Review | null, clock: 0 };
  const former: (Review | null)[] = [];
  const send = async (said: Review | null) => {
    const change = former.push(disk.review);
    disk.review = said && { ...said, at_ms: ++disk.clock };
    return change;
  };
  const restore = async (change: number) => void (disk.review = former[change - 1] ?? null);
  const review = new ReviewEditor(
    send,
    () => undefined,
    () => "mark",
    "run",
    async () => disk.review,
    restore,
  );
  review.take(null);
  return { disk, review };
}

it("what was read before a verdict was taken back does not bring it back", async () => {
  const { disk, review } = reviewed();
  await review.say("right");
  const before = disk.review;
  expect(before?.verdict).toBe("right");
  expect(await review.undo()).toBe("undone");
  review.take(before);
  expect(review.verdict).toBeNull();
  // It is not the previous verdict of the next change either.
  await review.say("partly");
  expect(await review.undo()).toBe("undone");
  expect([review.verdict, disk.review]).toEqual([null, null]);
});

it("what somebody else said is shown, also after something was said here", async () => {
  const { disk, review } = reviewed();
  await review.say("right");
  disk.review = {
    verdict: "wrong",
    score: 0.5,
    note: "no",
    at_ms: ++disk.clock,
    stale: false,
    answer: "mark",
    author: null,
    steps: [],
    labels: {},
  };
  review.take(disk.review);
  await vi.waitFor(() =>
    expect([review.verdict, review.score, review.note]).toEqual(["wrong", "0.5", "no"]),
  );
});

it("undo restores the former review exactly, unless something was written after the verdict", async () => {
  const { disk, review } = reviewed();
  const old: Review = {
    verdict: "wrong",
    score: 0.25,
    note: "old",
    at_ms: 7,
    stale: false,
    answer: "before",
    author: null,
    steps: [],
    labels: {},
  };
  disk.review = old;
  review.take(old);
  await review.say("right");
  expect(review.change).toBe(1);
  expect(await review.undo()).toBe("undone");
  expect(disk.review).toBe(old);
  expect([review.verdict, review.score, review.note]).toEqual(["wrong", "0.25", "old"]);
  await review.say("right");
  review.note = "new";
  review.typed("note");
  await review.save();
  expect(review.change).toBeNull();
  expect(await review.undo()).toBe("undone");
  expect(disk.review).toMatchObject({ verdict: "wrong", note: "new" });
});

it("a verdict of another window is kept when unsaved text of this one is saved", async () => {
  const { disk, review } = reviewed();
  review.score = "abc";
  review.typed("score");
  const other: Review = {
    verdict: "wrong",
    score: null,
    note: "",
    at_ms: ++disk.clock,
    stale: false,
    answer: "mark",
    author: null,
    steps: [{ step: 3, note: "odd" }],
    labels: {},
  };
  disk.review = other;
  review.take(other);
  review.note = "mine";
  review.typed("note");
  await review.save();
  expect(disk.review).toMatchObject({ verdict: "wrong", note: "mine", steps: other.steps });
  expect([review.verdict, review.score]).toEqual(["wrong", "abc"]);
  // The saved note is not touched any more either.
  disk.review = { ...other, note: "theirs", at_ms: ++disk.clock };
  review.take(disk.review);
  await vi.waitFor(() => expect(review.note).toBe("theirs"));
});

it("a note on a step is saved at once, replaced, and removed when it is empty", async () => {
  const { disk, review } = reviewed();
  const saved = () => disk.review?.steps ?? null;
  review.noteStep(7, "odd ");
  await vi.waitFor(() => expect(saved()).toEqual([{ step: 7, note: "odd" }]));
  await vi.waitFor(() => expect([review.verdict, review.state]).toEqual([null, "saved"]));
  review.noteStep(2, "first");
  await vi.waitFor(() => expect(saved()?.map(({ step }) => step)).toEqual([2, 7]));
  await review.say("wrong");
  expect(disk.review).toMatchObject({ verdict: "wrong", steps: [{ step: 2 }, { step: 7 }] });
  expect(await review.undo()).toBe("undone");
  expect(disk.review).toMatchObject({ verdict: null, steps: [{ step: 2 }, { step: 7 }] });
  review.noteStep(2, "");
  review.noteStep(7, " ");
  await vi.waitFor(() => expect(disk.review).toBeNull());
});

it("a label is saved at once beside the others, undone, and kept by other changes", async () => {
  const { disk, review } = reviewed();
  await review.label("severity", "high");
  await review.label("owner", " Zoë ");
  expect(disk.review?.labels).toEqual({ severity: "high", owner: "Zoë" });
  expect(await review.undo()).toBe("undone");
  expect([review.labels, disk.review?.labels]).toEqual([
    { severity: "high" },
    { severity: "high" },
  ]);
  await review.say("wrong");
  expect(disk.review).toMatchObject({ verdict: "wrong", labels: { severity: "high" } });
  expect(await review.undo()).toBe("undone");
  expect(disk.review).toMatchObject({ verdict: null, labels: { severity: "high" } });
  await review.label("severity", "");
  expect(disk.review).toBeNull();
});

it("a label can be taken back after something else was changed", async () => {
  const { disk, review } = reviewed();
  await review.label("severity", "high");
  await review.label("severity", "low");
  review.note = "mine";
  review.typed("note");
  await review.save();
  expect(await review.undo()).toBe("undone");
  expect(disk.review).toMatchObject({ note: "mine", labels: { severity: "high" } });
});

/** Review of somebody in another window. */
const other = (labels: Record<string, string>): Review => ({
  verdict: null,
  score: null,
  note: "",
  at_ms: 1,
  stale: false,
  answer: "mark",
  author: null,
  steps: [],
  labels,
});

/** An editor whose run was not read yet, with a server that refuses some labels. */
function unread(labels: Record<string, string>, refuses: (labels: Review["labels"]) => string) {
  const disk = { review: other(labels) as Review | null };
  const review = new ReviewEditor(
    async (said) => {
      const message = refuses(said?.labels ?? {});
      if (message !== "") throw { code: "bad_request", message, hint: null };
      disk.review = said;
      return null;
    },
    () => undefined,
    () => "mark",
    "run",
    async () => disk.review,
    async () => undefined,
  );
  return { disk, review };
}

it("a label given before the review was read keeps the other labels, and so does its undo", async () => {
  const { disk, review } = unread({ owner: "Zoë", severity: "low" }, () => "");
  await review.label("severity", "high");
  expect(disk.review?.labels).toEqual({ owner: "Zoë", severity: "high" });
  expect(await review.undo()).toBe("undone");
  expect(disk.review?.labels).toEqual({ owner: "Zoë", severity: "low" });
});

it("a draft with a label keeps labels that another window gave meanwhile", async () => {
  const first = unread({}, () => "The disk is full.");
  await first.review.label("severity", "high");
  expect(first.review.state).toBe("failed");
  const { disk, review } = unread({ owner: "Zoë" }, () => "");
  review.flush();
  await vi.waitFor(() => expect(disk.review?.labels).toEqual({ owner: "Zoë", severity: "high" }));
});

it("a label that is refused keeps neither the verdict nor other labels from being saved", async () => {
  const refuses = ({ points }: Review["labels"]) =>
    points === "9" ? "Label `points`: Write a number from 0 to 5." : "";
  const { disk, review } = unread({ points: "2" }, refuses);
  await review.label("points", "9");
  expect(review.wrongLabels["points"]).toContain("from 0 to 5");
  expect(review.state).toBe("unsaved");
  await review.label("owner", "Zoë");
  expect(await review.say("wrong")).toBe("saved");
  expect(disk.review).toMatchObject({ verdict: "wrong", labels: { points: "2", owner: "Zoë" } });
  expect(review.labels["points"]).toBe("9");
  await review.label("points", "3");
  expect([disk.review?.labels["points"], review.state]).toEqual(["3", "saved"]);
  expect(review.wrongLabels).toEqual({});
});

it("a label that does not exist any more can be discarded", async () => {
  const refuses = ({ gone }: Review["labels"]) =>
    gone === undefined ? "" : "There is no label named `gone`.";
  const { disk, review } = unread({}, refuses);
  await review.label("gone", "x");
  await review.discardLabel("gone");
  expect([review.wrongLabels, review.labels, review.state]).toEqual([{}, {}, "nothing"]);
  expect(disk.review).toBeNull();
});

it("typed labels are kept in the draft at once, and saved only if they fit", async () => {
  const { disk, review } = unread({}, () => "");
  const points = { kind: "number", min: 0, max: 5 } as const;
  review.typedLabel("points", "9", wrongLabel(points, "9"));
  review.typedLabel("owner", "Zoë ", null);
  expect(reviewDrafts.get("run")?.labels).toEqual({ points: "9", owner: "Zoë " });
  review.flush();
  await vi.waitFor(() => expect(disk.review?.labels).toEqual({ owner: "Zoë" }));
  expect(review.wrongLabels).toEqual({ points: "Write a number from 0 to 5." });
  for (const [typed, fits] of [
    ["2.5", true],
    ["-1", false],
    ["1,5", false],
    ["", true],
  ] as const)
    expect(wrongLabel(points, typed) === null).toBe(fits);
});

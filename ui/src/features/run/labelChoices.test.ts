import { describe, expect, it } from "vitest";
import { labelChoices, YES_NO, type GivenLabel } from "./labelChoices";

const LABELS: GivenLabel[] = [
  { name: "tone", schema: { kind: "category", values: ["kind", "rude"] } },
  { name: "flaky", schema: YES_NO },
  { name: "points", schema: { kind: "number", min: 0, max: 5 } },
  { name: "owner", schema: { kind: "text" } },
];
const TAKEN = [...LABELS.map(({ name }) => name), "slow"];
const choices = (typed: string, given = {}) =>
  labelChoices(LABELS, given, typed, TAKEN).map(({ kind, text }) => `${kind} ${text}`);

describe("the picker of labels offers", () => {
  it("each value of a category, a yes/no label by its name, and the fields of the others", () =>
    expect(choices("")).toEqual([
      "give tone: kind",
      "give tone: rude",
      "give flaky",
      "write points: …",
      "write owner: …",
      "form New label with values…",
    ]));

  it("to take away what the run has", () => {
    expect(choices("", { tone: "rude", flaky: "yes", owner: "Zoë" })).toEqual([
      "give tone: kind",
      "take tone: rude",
      "take flaky",
      "write points: …",
      "write owner: Zoë",
      "form New label with values…",
    ]);
    expect(choices("", { flaky: "no" })).toContain("take flaky: no");
  });

  it("what is typed first, and that a yes/no label does not hold", () => {
    expect(choices("rud")[0]).toBe("give tone: rude");
    expect(choices("flaky")).toEqual([
      "give flaky",
      "give flaky: no",
      "form New label with values…",
    ]);
  });

  it("a new label for a word that names none, also not one that follows from a filter", () => {
    expect(choices("check sql")).toEqual([
      "create Create label “check sql”",
      "form New label with values…",
    ]);
    for (const taken of ["SLOW", "Tone", "points: 9"])
      expect(choices(taken).some((choice) => choice.startsWith("create"))).toBe(false);
  });

  it("a new label first, unless a choice holds what is typed", () => {
    const labels = [...LABELS, { name: "hallucination", schema: YES_NO }];
    const first = (typed: string) => labelChoices(labels, {}, typed, TAKEN)[0]?.text;
    expect(choices("oner")[1]).toBe("write owner: …");
    expect(first("action")).toBe("Create label “action”");
    expect(first("hALLu")).toBe("hallucination");
    expect(first("RUD")).toBe("tone: rude");
  });

  it("a number or text that is typed behind its name, if it may be given", () => {
    expect(choices("points: 4")[0]).toBe("give points: 4");
    expect(choices("points: 9")).not.toContain("give points: 9");
    expect(choices("Owner: Zoë")[0]).toBe("give owner: Zoë");
  });
});

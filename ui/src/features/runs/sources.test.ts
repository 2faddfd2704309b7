import { describe, expect, it } from "vitest";
import { runRow } from "../../testing/fakeBackend";
import type { Column, RunRow } from "../../generated";
import { chosen, type TableColumn } from "./columns";
import { hasSources, SaidColumns, SOURCE, withoutEmpty } from "./sources";

const formats = (...values: string[]) => values.map((value) => ({ value }));
const bare = { system: null, model: null, variation: null, variation_name: null } as const;

describe("the column of sources", () => {
  it("names the tool, has the file on hover, and filters by the format", () => {
    const row = runRow(0, { format: "claude_code", path: "logs/a.jsonl" });
    expect(SOURCE.text(row)).toBe("Claude Code");
    expect(SOURCE.hint?.(row)).toBe("logs/a.jsonl");
    expect(SOURCE.token?.(row)).toEqual({ key: "format", value: "claude_code" });
    expect(SOURCE.text(runRow(0, { format: "new_one" }))).toBe("new_one");
    expect([SOURCE.text(runRow(0)), SOURCE.token?.(runRow(0))]).toEqual(["–", null]);
  });

  it("is of use where several tools meet, or rows have no system", () => {
    expect(hasSources(formats("inspect", "codex"), [])).toBe(true);
    expect(hasSources(formats("inspect", "tool_calling"), [])).toBe(true);
    expect(hasSources(formats("tool_calling", "prompt_ql"), [])).toBe(false);
    expect(hasSources(formats("tau_bench"), [[runRow(0, { format: "tau_bench" })]])).toBe(false);
    const nameless = runRow(0, { ...bare, format: "tau_bench" });
    expect(hasSources(formats("tau_bench"), [[nameless]])).toBe(true);
  });

  it("stands behind the task", () => {
    const ids = chosen({}, false, [], 0, false, null, SOURCE).map(({ id }) => id);
    expect(ids.slice(0, 3)).toEqual(["state", "task", "source"]);
  });
});

describe("columns that say nothing", () => {
  const of = (
    columns: TableColumn[],
    rows: readonly RunRow[],
    shown = {},
    sorted: Column | null = null,
  ) =>
    withoutEmpty(columns, new SaidColumns().of("", columns, [rows]), shown, sorted).map(
      ({ id }) => id,
    );
  const empty = runRow(0, { ...bare, tokens: null, cost: null });

  it("are folded away, unless a person chose them or a further row fills them", () => {
    const folded = of(chosen({}, true), [empty]);
    for (const id of ["variation", "system", "model", "stored", "tokens", "cost"])
      expect(folded).not.toContain(id);
    for (const id of ["state", "task", "score", "turns", "modified"]) expect(folded).toContain(id);
    const source = chosen({}, true, [], 0, false, null, SOURCE);
    expect(of(source, [empty])).not.toContain("source");
    expect(of(source, [runRow(0, { format: "codex" })])).toContain("source");
    expect(of(chosen({ model: true }, true), [empty], { model: true })).toContain("model");
    expect(of(chosen({}, true), [empty, runRow(1)])).toContain("system");
  });

  it("are folded away where all rows of files with many runs are the first of their kind", () => {
    const ids = (...rows: RunRow[]) =>
      of(chosen({}, true), rows).filter((id) => ["variation", "repeat"].includes(id));
    const unknown = { format: null, scoring: null, variation_name: null } as const;
    const first = runRow(0, { ...unknown, member: "row-1", variation: 0, repeat: 1 });
    expect(ids(first)).toEqual([]);
    expect(ids(first, { ...first, repeat: 2 })).toEqual(["repeat"]);
    expect(ids(first, { ...first, variation: 1 })).toEqual(["variation"]);
    expect(ids({ ...first, member: null })).toEqual(["variation", "repeat"]);
  });

  it("are folded away also where the folder has labels and no listed run has one", () => {
    const has = (...rows: RunRow[]) => of(chosen({}, true, [], 0, true), rows).includes("labels");
    const labelled = runRow(1, { labels: [{ name: "slow", value: null }] });
    expect([has(runRow(0)), has(runRow(0), labelled)]).toEqual([false, true]);
  });

  it("stay while the list is sorted by them, and once they said something of its rows", () => {
    expect(of(chosen({}, true), [empty], {}, "cost")).toContain("cost");
    const said = new SaidColumns();
    const columns = chosen({}, true);
    const has = (q: string, row: RunRow) => said.of(q, columns, [[row]]).has("cost");
    expect([has("", runRow(1)), has("", empty), has("state:error", empty)]).toEqual([
      true,
      true,
      false,
    ]);
  });
});

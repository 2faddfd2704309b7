// Pure. Which tool a row comes from, and which columns say nothing of any row.
import type { Column, FacetValue, RunRow } from "../../generated";
import { visibleLine } from "../../components/visible/visible";
import type { TableColumn } from "./columns";

/** Names of the tools by their formats, as in `touchstone formats`. */
const TOOLS: Readonly<Record<string, string>> = {
  agentdojo: "AgentDojo",
  agentv: "AgentV",
  azure_redteam: "Azure red team",
  bfcl: "BFCL",
  claude_code: "Claude Code",
  codex: "Codex",
  deepeval: "DeepEval",
  evaluated: "Evaluated row",
  evaluation: "Azure evaluation",
  gemini_cli: "Gemini CLI",
  harbor: "Harbor",
  inspect: "Inspect",
  langfuse: "Langfuse",
  lm_eval: "LM Eval Harness",
  messages: "Chat",
  mini_swe_agent: "mini-swe-agent",
  openai_agents_sdk: "OpenAI Agents",
  openhands: "OpenHands",
  otel: "OpenTelemetry",
  promptfoo: "promptfoo",
  swe_agent: "SWE-agent",
  tau2_bench: "tau2-bench",
  tau_bench: "tau-bench",
};

/** Column of the tool that recorded a run; a run of this program has none. */
export const SOURCE: TableColumn = {
  id: "source",
  title: "Source",
  width: 8,
  least: 5,
  grow: 1,
  number: false,
  text: (row) => (row.format === null ? "–" : (TOOLS[row.format] ?? visibleLine(row.format))),
  hint: (row) => visibleLine(row.path),
  token: (row) => (row.format === null ? null : { key: "format", value: row.format }),
};

/** True if rows come from several tools, or have no system that would tell them apart. */
export function hasSources(
  formats: readonly Pick<FacetValue, "value">[],
  pages: Iterable<readonly RunRow[]>,
): boolean {
  const tools = formats.filter(({ value }) => Object.hasOwn(TOOLS, value)).length;
  if (tools > 1 || (tools === 1 && formats.length > 1)) return true;
  for (const rows of pages)
    if (rows.some((row) => row.format !== null && row.system === null)) return true;
  return false;
}

/** Columns that are of no use where they say nothing of any row. */
const FOLDED = [
  "source",
  "variation",
  "system",
  "model",
  "repeat",
  "stored",
  "labels",
  "turns",
  "tool_calls",
  "tokens",
  "cost",
  "seconds",
];
const isFoldable = (id: string) => FOLDED.includes(id) || id.startsWith("verdict:");
/** The first repeat of a run in a file of many says nothing. */
const saysNothing = (column: TableColumn, row: RunRow) => {
  const text = column.text(row);
  const isFirst = column.id === "repeat" && row.member !== null && row.repeat === 1;
  return text === "–" || text === "" || isFirst;
};

/** Per page, whether a column says something of one of its rows. A page never changes. */
const said = new WeakMap<readonly RunRow[], Map<string, boolean>>();

function isSaid(column: TableColumn, rows: readonly RunRow[]): boolean {
  const known = said.get(rows) ?? new Map<string, boolean>();
  said.set(rows, known);
  const found = known.get(column.id) ?? rows.some((row) => !saysNothing(column, row));
  known.set(column.id, found);
  return found;
}

/** The columns that said something of a row of a list, so that they stay while it is scrolled. */
export class SaidColumns {
  #list = "";
  readonly #said = new Set<string>();

  /** The columns of a list in which a loaded row has something, now or before. */
  of(
    list: string,
    columns: readonly TableColumn[],
    pages: readonly (readonly RunRow[])[],
  ): ReadonlySet<string> {
    if (list !== this.#list) this.#said.clear();
    this.#list = list;
    for (const column of columns)
      if (!this.#said.has(column.id) && pages.some((rows) => isSaid(column, rows)))
        this.#said.add(column.id);
    return this.#said;
  }
}

/**
 * The columns without those that say nothing of any row, unless a person chose them or the list is
 * sorted by them.
 */
export const withoutEmpty = (
  columns: readonly TableColumn[],
  said: ReadonlySet<string>,
  shown: Readonly<Record<string, boolean>>,
  sorted: Column | null,
): TableColumn[] =>
  columns.filter(
    (column) =>
      shown[column.id] === true ||
      column.sort === sorted ||
      !isFoldable(column.id) ||
      said.has(column.id),
  );

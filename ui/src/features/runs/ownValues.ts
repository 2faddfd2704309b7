// Values of one's own columns for the rows that are shown, asked for as they come into sight. Values of
// an older row stay until newer ones arrive.
import { createSubscriber } from "svelte/reactivity";
import type { RunRow } from "../../generated";
import type { Backend } from "../../backend/backend";
import type { OwnText } from "./columns";

/** Runs in a request, and runs whose values are kept. */
const AT_ONCE = 200;
const MOST_KEPT = 5_000;

interface RowValues {
  /** The row that the values were asked for. */
  row: RunRow;
  values: Map<string, string | null>;
  /** Columns that were asked for. */
  asked: Set<string>;
}

export class OwnValues implements OwnText {
  readonly #kept = new Map<string, RowValues>();
  /** Columns whose values the engine folds with the texts of sensitive runs. */
  readonly #quotes = new Map<string, boolean>();
  #update: () => void = () => undefined;
  readonly #subscribe = createSubscriber((update) => {
    this.#update = update;
  });

  constructor(readonly backend: Backend) {}

  text(row: RunRow, column: string): string | null | undefined {
    this.#subscribe();
    return this.#kept.get(row.id)?.values.get(column);
  }

  quotes(column: string): boolean {
    this.#subscribe();
    return this.#quotes.get(column) ?? true;
  }

  /** Asks for what is not known of these rows. */
  want(rows: readonly RunRow[], columns: readonly string[]): void {
    if (columns.length === 0) return;
    const isMissing = (row: RunRow) => {
      const kept = this.#kept.get(row.id);
      return kept?.row !== row || columns.some((column) => !kept.asked.has(column));
    };
    const missing = rows.filter(isMissing);
    for (let at = 0; at < missing.length; at += AT_ONCE)
      void this.#ask(missing.slice(at, at + AT_ONCE), columns);
  }

  async #ask(rows: readonly RunRow[], columns: readonly string[]): Promise<void> {
    if (this.#kept.size > MOST_KEPT) this.#kept.clear();
    for (const row of rows) {
      const values = this.#kept.get(row.id)?.values ?? new Map<string, string | null>();
      this.#kept.set(row.id, { row, values, asked: new Set(columns) });
    }
    try {
      const { quotes, values } = await this.backend.call("own_columns", {
        columns: [...columns],
        runs: rows.map(({ id }) => id),
      });
      columns.forEach((column, place) => this.#quotes.set(column, quotes[place] ?? true));
      rows.forEach((row, at) => {
        const kept = this.#kept.get(row.id);
        if (kept?.row !== row) return;
        columns.forEach((column, place) => kept.values.set(column, values[at]?.[place] ?? null));
      });
    } catch {
      // They are asked for again when the rows come into sight again.
      for (const row of rows) if (this.#kept.get(row.id)?.row === row) this.#kept.delete(row.id);
    }
    this.#update();
  }
}

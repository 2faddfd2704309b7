// A comparison of two answers as the preferences show it: in full or only the differences, as rows
// or as lines, loaded page by page.
import type { Session } from "../../app/session";
import { Pages } from "../../components/diff/pages.svelte";
import { lineWithoutRuling, withoutRuling } from "../../components/diff/diff";
import type { DiffLine, DiffRequest, DiffRow } from "../../generated";

/** More rows than this are limited to differences by default. */
const MANY = 40;

export class AnswerComparison {
  readonly #session: Session;
  readonly #first: (changedOnly: boolean) => DiffRequest | null;
  readonly #blind: () => boolean;

  /**
   * `first` is the request of the first page; null while nothing is compared. `blind` tells if
   * nothing may say whether the answer is right: then it is shown in full, whatever differs.
   */
  constructor(
    session: Session,
    first: (changedOnly: boolean) => DiffRequest | null,
    blind: () => boolean = () => false,
  ) {
    this.#session = session;
    this.#first = first;
    this.#blind = blind;
  }

  readonly #whole = $derived.by(() => this.#query(false));
  readonly #changed = $derived.by(() => this.#query(true));

  /** True if the answers are shown as lines. */
  readonly lines = $derived.by(
    () =>
      this.#session.prefs.current.answers === "lines" || this.#whole?.data?.columns.length === 0,
  );
  /** True if only the differences are shown. */
  readonly folded = $derived.by(() => {
    const whole = this.#whole?.data;
    if (this.#blind()) return false;
    if (whole?.equal === true && !this.lines) return false;
    return this.#session.prefs.current.folded ?? (this.lines || (whole?.total_rows ?? 0) > MANY);
  });
  readonly asked = $derived.by(() => (this.folded ? this.#changed : this.#whole));
  readonly diff = $derived.by(() => {
    const diff = this.asked?.data;
    if (diff === undefined || !this.#blind()) return diff;
    return {
      ...diff,
      rows: diff.rows.map(withoutRuling),
      lines: diff.lines.map(lineWithoutRuling),
      notes: [],
      coarse: false,
    };
  });
  readonly rowPages = $derived.by(() => {
    const load = async (offset: number, limit: number) =>
      this.#shown((await this.#more({ rows: { offset, limit } }))?.rows ?? [], withoutRuling);
    return this.diff && new Pages<DiffRow>(load, this.diff.total_rows, this.diff.rows);
  });
  readonly linePages = $derived.by(() => {
    const load = async (offset: number, limit: number) =>
      this.#shown((await this.#more({ lines: { offset, limit } }))?.lines ?? [], lineWithoutRuling);
    return this.diff && new Pages<DiffLine>(load, this.diff.total_lines, this.diff.lines);
  });

  #shown<T>(items: T[], without: (item: T) => T): T[] {
    return this.#blind() ? items.map(without) : items;
  }

  #query(changedOnly: boolean) {
    const request = this.#first(changedOnly);
    return request === null ? undefined : this.#session.live.query("diff_answer", { request });
  }

  async #more(span: Partial<Pick<DiffRequest, "rows" | "lines">>) {
    const request = this.#first(this.folded);
    if (request === null) return null;
    const nothing = { offset: 0, limit: 0 };
    return await this.#session.backend.call("diff_answer", {
      request: { ...request, rows: nothing, lines: nothing, ...span },
    });
  }

  /** Shows everything and waits until it is loaded. */
  async unfold(): Promise<void> {
    this.#session.prefs.set({ folded: false });
    for (let tries = 0; !this.diff && tries < 100; tries++)
      await new Promise(requestAnimationFrame);
  }
}

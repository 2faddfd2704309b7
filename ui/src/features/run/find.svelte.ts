// Find state of one run: search text, matches and the current match. The search itself is injected.
import { asAppError } from "../../backend/live";
import type { Match, Matches } from "../../generated";
import type { MatchPosition } from "./highlights";

const PAUSE_MS = 150;

export class Finder {
  open = $state(false);
  text = $state("");
  /** Text of the current matches; follows `text` with a delay. */
  sought = $state("");
  total = $state(0);
  matches = $state.raw<Match[]>([]);
  at = $state(0);
  busy = $state(false);
  error = $state("");
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asked = 0;

  constructor(
    readonly look: (text: string) => Promise<Matches>,
    /** The step from which the first match is selected. */
    readonly from: () => number,
  ) {}

  get current(): Match | undefined {
    return this.matches[this.at];
  }

  get spot(): MatchPosition | undefined {
    const match = this.current;
    if (!match) return undefined;
    let nth = 0;
    for (
      let i = this.at - 1;
      i >= 0 && this.matches[i]?.part === match.part && this.matches[i]?.row === match.row;
      i--
    )
      nth++;
    return { part: match.part, offset: match.offset, row: match.row, nth };
  }

  /** Handles typing. */
  type(text: string): void {
    this.text = text;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.search(), PAUSE_MS);
  }

  next(by: 1 | -1): void {
    if (this.text !== this.sought) void this.search();
    else if (this.matches.length > 0)
      this.at = (this.at + by + this.matches.length) % this.matches.length;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#asked++;
    this.open = this.busy = false;
    this.sought = this.error = "";
    this.matches = [];
    this.total = 0;
  }

  async search(): Promise<void> {
    clearTimeout(this.#timer);
    const mine = ++this.#asked;
    const text = this.text;
    this.busy = text.trim() !== "";
    try {
      const found = this.busy ? await this.look(text) : { total: 0, matches: [] };
      if (mine !== this.#asked) return;
      const from = this.from();
      const ahead = found.matches.findIndex((match) => match.step !== null && match.step >= from);
      this.matches = found.matches;
      this.total = found.total;
      this.at = Math.max(0, ahead);
      this.sought = text;
      this.error = "";
    } catch (thrown) {
      if (mine === this.#asked) this.error = asAppError(thrown).message;
    } finally {
      if (mine === this.#asked) this.busy = false;
    }
  }
}

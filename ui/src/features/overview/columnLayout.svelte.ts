// Which columns of the matrix are shown, and how wide they are.
import { leastChars } from "./cells";
import { columnsInSight } from "./inSight";
import type { Matrix } from "./matrix";
import type { CellSelection } from "./selection";

/** Width of a character beside the text size, and of the padding of a cell. */
const [CHAR, PADDING] = [0.56, 12];
const CHARS = { least: 11, most: 20 };

export class ColumnLayout {
  /** Width of the matrix; 0 until it is known. */
  width = $state(0);
  /** The visible rows once scrolling rests, by which columns are shown. */
  seen = $state.raw({ first: 0, last: 20 });
  /** True if columns without a cell in sight are shown, too. */
  every = $state(false);

  readonly #matrix: Matrix;
  readonly #selection: CellSelection;
  readonly #size: () => number;

  constructor(matrix: Matrix, selection: CellSelection, size: () => number) {
    this.#matrix = matrix;
    this.#selection = selection;
    this.#size = size;
  }

  readonly #rest = $derived.by(() => this.width - this.#size() * 17);
  /**
   * Least width of a column. Twelve fit 1440 pixels, unless their names need more to be readable.
   * With fewer, a cell has room for its interval and marks.
   */
  readonly #each = $derived.by(() => {
    const text = leastChars(this.#matrix.columns, CHARS) * this.#size() * CHAR + PADDING;
    return Math.round(Math.max(this.#size() * 7.6, text));
  });
  /** The columns in sight, where not all have room and most are empty there. */
  readonly #sparse = $derived.by(() => {
    const { length } = this.#matrix.columns;
    if (this.width === 0 || length * this.#each <= this.#rest) return null;
    const { first, last } = this.seen;
    const rows = Array.from({ length: last - first + 1 }, (_, at) => this.#matrix.row(first + at));
    const { column } = this.#selection.cursor;
    return columnsInSight(rows, length, this.#selection.acts === 0 ? -1 : column);
  });
  /** True for each column that is shown; null for all. */
  readonly shown = $derived.by(() => (this.every ? null : this.#sparse));
  /** Number of columns that are or would be left out. */
  readonly empty = $derived.by(() => this.#sparse?.filter((one) => !one).length ?? 0);
  readonly #count = $derived.by(
    () => this.shown?.filter((one) => one).length ?? this.#matrix.columns.length,
  );
  /** Number of characters that fit the head of a column. */
  readonly chars = $derived.by(() => {
    const each = Math.max(this.#each, this.#rest / Math.max(1, this.#count));
    return Math.floor((each - PADDING) / (this.#size() * CHAR));
  });
  readonly #first = $derived.by(() => `min(${Math.round(this.#size() * 17)}px, 28vw)`);
  /** The columns of the grid, and their least width together. */
  readonly template = $derived.by(
    () => `minmax(${this.#first}, 1.4fr) repeat(${this.#count}, minmax(${this.#each}px, 1fr))`,
  );
  readonly least = $derived.by(() => `calc(${this.#first} + ${this.#each * this.#count}px)`);
}

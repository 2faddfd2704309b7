// Pure. Positions in sorted lists.
/** Position of a number in a sorted list, else that of the last one before it; -1 if there is none. */
export function rowOf(visible: readonly number[], index: number): number {
  let [low, high] = [0, visible.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((visible[middle] ?? 0) <= index) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

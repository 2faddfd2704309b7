// Keeps the last reply of a query while the next one is on its way, so that a page does not go blank
// while somebody types a filter.

/** The reply, or the one before it until it arrives. */
export function lastData<T>(get: () => T | undefined): {
  readonly data: T | undefined;
  /** True while the reply of before is shown. */
  readonly behind: boolean;
} {
  let before = $state.raw<T | undefined>(undefined);
  const now = $derived(get());
  $effect.pre(() => {
    if (now !== undefined) before = now;
  });
  return {
    get data() {
      return now ?? before;
    },
    get behind() {
      return now === undefined && before !== undefined;
    },
  };
}

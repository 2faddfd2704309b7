// The label that was added last, until the review of the open run goes to its field.
export const addedLabel = $state<{ name: string | null }>({ name: null });

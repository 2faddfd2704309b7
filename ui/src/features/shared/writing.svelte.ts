/** Whether the filter of the page is being written: its mistakes are then said at its field. */
export const writing = $state({ filter: false });

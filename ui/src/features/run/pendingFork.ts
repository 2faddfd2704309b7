// A fork that another run asks for: the editor opens once the run that it forks is shown.
let pending: { id: string; step: number } | null = null;

/** Asks for the fork editor of a step; taken when that run is opened. */
export const requestFork = (id: string, step: number): void => void (pending = { id, step });

/** The step of this run whose fork editor was asked for; null if there is none. A request is used once. */
export function takeFork(id: string): number | null {
  const step = pending?.id === id ? pending.step : null;
  pending = null;
  return step;
}

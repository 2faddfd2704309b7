// The outline of the run on screen: where it failed, and marks for the minimap. Loaded after the
// first steps; an older one stays visible until the next arrives.
import type { RunOutline } from "../../generated";

type Read = (version: string) => Promise<RunOutline>;

export class Outline {
  #data = $state.raw<RunOutline | null>(null);
  #asked = "";
  #reading: Promise<void> = Promise.resolve();

  constructor(readonly read: Read) {}

  get data(): RunOutline | null {
    return this.#data;
  }

  /** Loads the outline of a version, unless it is loaded already. */
  load(version: string): Promise<void> {
    if (version === this.#asked) return this.#reading;
    this.#asked = version;
    return (this.#reading = this.read(version).then(
      (outline) => {
        if (version === this.#asked) this.#data = outline;
      },
      () => {
        // The run has changed meanwhile, or cannot be read; the page shows why.
        if (version === this.#asked) this.#asked = "";
      },
    ));
  }
}

// Pure. What blocks the use of a model.
import type { Blocker } from "../../generated";

/** True if a key of a model is what lacks, which a person sets in the settings. */
export const isAboutKey = ({ message }: Blocker): boolean => /\bkey\b/iu.test(message);

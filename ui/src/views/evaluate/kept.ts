// The sheet as it was left, so that a look elsewhere loses nothing of it. Of one folder; gone with the page.
import type { DataFile } from "../../generated/DataFile";
import { BLANK, type Sheet } from "./sheet";

interface Left {
  sheet: Sheet;
  /** Files from outside of the folder that were chosen. */
  picked: readonly DataFile[];
}
const NOTHING: Left = { sheet: BLANK, picked: [] };
let left: Left & { folder: string } = { ...NOTHING, folder: "" };

export const kept = {
  of: (folder: string): Left => (left.folder === folder ? left : NOTHING),
  keep: (folder: string, now: Left): void => void (left = { ...now, folder }),
};

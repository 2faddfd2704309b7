// The sheet as it was left, so that a look elsewhere loses nothing of it. Of one folder; gone with the page.
import { BLANK, type Sheet } from "./sheet";

interface Left {
  sheet: Sheet;
  /** The id of the data file. */
  data: string;
}
let left: Left & { folder: string } = { folder: "", sheet: BLANK, data: "" };

export const kept = {
  of: (folder: string): Left => (left.folder === folder ? left : { sheet: BLANK, data: "" }),
  keep: (folder: string, now: Left): void => void (left = { folder, ...now }),
};

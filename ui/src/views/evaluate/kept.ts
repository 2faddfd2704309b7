// The sheet as it was left, so that a look elsewhere loses nothing of it. Of one folder; gone with the page.
import { BLANK, type Sheet } from "./sheet";

let left = { folder: "", sheet: BLANK };

export const kept = {
  of: (folder: string): Sheet => (left.folder === folder ? left.sheet : BLANK),
  keep: (folder: string, sheet: Sheet): void => void (left = { folder, sheet }),
};

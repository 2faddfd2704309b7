// Pure. The shortest task file, and where it belongs.
import type { Folder } from "../../generated";

export const FIRST_TASK = `tool_calling_prompt: What is {a} times 7?
variations:
  - parameters: { a: 6 }
    expected_output: 42
`;

/** Path of a first task: in the input folder, else in one that the program finds by its name. */
export function placeOf({ path, input_dir }: Pick<Folder, "path" | "input_dir">): string {
  const sign = path.includes("\\") ? "\\" : "/";
  const input = input_dir ?? `${path.replace(/[\\/]$/u, "")}${sign}suites`;
  return `${input}${sign}first.yaml`;
}

import { expect, it } from "vitest";
import { placeOf } from "./firstTask";

it.each([
  ["/a/b", null, "/a/b/suites/first.yaml"],
  ["/a/b", "/a/tasks", "/a/tasks/first.yaml"],
  ["C:\\a", null, "C:\\a\\suites\\first.yaml"],
])("a first task of %s with the input folder %s is %s", (path, input_dir, place) => {
  expect(placeOf({ path, input_dir })).toBe(place);
});

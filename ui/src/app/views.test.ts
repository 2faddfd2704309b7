import fc from "fast-check";
import { expect, it } from "vitest";
import { RUNS } from "./route";
import { isShownView, readViews, teamView, viewRoute, withoutView, withView } from "./views";

const VIEW = {
  name: "dear",
  q: "cost:>1",
  sort: "-cost",
  shown: { path: true },
};

it("views are read as far as they make sense, whatever is kept", () => {
  fc.assert(fc.property(fc.jsonValue(), (kept) => void readViews(kept)));
  expect(readViews({ f: [VIEW, { name: "" }, 7, { name: "x", q: "" }], g: "no" })).toEqual({
    f: [VIEW, { name: "x", q: "", sort: "-modified", shown: null }],
    g: [],
  });
});

it("a view replaces the one of its name, in its folder alone", () => {
  const one = withView({}, "f", VIEW);
  const two = withView(withView(one, "g", VIEW), "f", {
    ...VIEW,
    q: "cost:>2",
  });
  expect(two).toEqual({ f: [{ ...VIEW, q: "cost:>2" }], g: [VIEW] });
  expect(withoutView(two, "f", "dear")).toEqual({ f: [], g: [VIEW] });
});

it("the folders of the latest views are kept", () => {
  let views = {};
  for (let n = 0; n < 51; n++) views = withView(views, `f${n}`, VIEW);
  const kept = Object.keys(readViews(withView(views, "f0", VIEW)));
  expect([kept.length, kept.includes("f1"), kept.at(-1)]).toEqual([50, false, "f0"]);
});

it("a view leads to its filter and order, and is known by them", () => {
  const route = viewRoute(VIEW);
  expect(route).toMatchObject({
    q: "cost:>1",
    sort: { column: "cost", descending: true },
  });
  expect([isShownView(VIEW, route), isShownView(VIEW, RUNS)]).toEqual([true, false]);
});

it("a view of the workspace file shows the columns that it names, or the usual ones", () => {
  const view = {
    name: "x",
    filter: "state:error",
    sort: "cost",
    columns: ["cost", "answer.id"],
  };
  expect(teamView(view, ["cost", "score"])).toEqual({
    name: "x",
    q: "state:error",
    sort: "cost",
    shown: { cost: true, score: false, "answer.id": true },
  });
  expect(teamView({ ...view, sort: null, columns: null }, ["cost"])).toMatchObject({
    sort: "-modified",
    shown: {},
  });
});

import { expect, test } from "vitest";
import { readCodeRun } from "../../../kernel/vocabulary/code-run.ts";

const call = { name: "run-code", params: JSON.stringify({ code: "return 1" }) };

test("a run of code has its code, and what came of it when it has ended", () => {
  expect(readCodeRun(call)).toEqual({ code: "return 1", result: undefined });
  const output = {
    value: { sum: 3 },
    printed: "412 rows\n",
    files: [{ path: "/output/a.csv", bytes: 10, mime: "text/csv" }],
    charts: [{ path: "/output/a.svg", title: "A" }],
    calls: 2,
  };
  expect(readCodeRun(call, JSON.stringify(output))?.result).toEqual({
    value: '{\n  "sum": 3\n}',
    printed: "412 rows\n",
    files: [{ path: "/output/a.csv", bytes: 10 }],
    charts: [{ path: "/output/a.svg", title: "A" }],
    calls: 2,
  });
});

test("whatever a component returns in its place is left out", () => {
  const odd = {
    value: null,
    printed: 7,
    files: [{ path: 1 }, null, "x"],
    charts: { path: "/a" },
    calls: "many",
  };
  expect(readCodeRun(call, JSON.stringify(odd))?.result).toEqual({
    ...{ value: "", printed: "", files: [], charts: [], calls: 0 },
  });
  expect(readCodeRun(call, "no JSON")).toEqual({ code: "return 1", result: undefined });
  expect(readCodeRun({ ...call, name: "weather" })).toBeUndefined();
  expect(readCodeRun({ ...call, params: "[]" })).toBeUndefined();
});

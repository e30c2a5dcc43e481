/** The shipped tool built with QuickJS, in the real host. */
import { expect, test } from "vitest";
import { checkConformance } from "../../../host/author/conformance/check.ts";
import { CACHE } from "../../support/tools/alone.ts";
import { builtComponent, capabilitiesOf, installShipped } from "../../support/tools/shipped.ts";

test("it converts in the sandbox, with no capabilities and no requests", async () => {
  const { call, host } = await installShipped("convert");
  const { outcome, receipt } = await call({ value: 26.2, from: "miles", to: "km" });
  expect(outcome).toMatchObject({
    status: "ok",
    output: '{"value":26.2,"from":"mi","result":42.1648128,"to":"km"}',
  });
  expect(receipt?.requests).toEqual([]);
  expect((await host.catalog.find("convert"))?.capabilities.http).toBeUndefined();
  expect((await call({ value: 1, from: "furlong", to: "km" })).outcome).toMatchObject({
    status: "error",
    message: expect.stringContaining('Unknown unit "furlong". Known units: length (m, km'),
  });
  expect((await call({ value: 1, from: "kg", to: "km" })).outcome).toMatchObject({
    message:
      "Cannot convert kg (mass) to km (length). Instead of km, use one of: kg, g, mg, t, lb, oz, st, ton",
  });
});

test("it passes the conformance check, at a fraction of the other engine's size", async () => {
  const component = await builtComponent("convert");
  expect(component.length).toBeLessThan(2.5e6);
  const capabilitiesText = capabilitiesOf("convert");
  const report = await checkConformance({
    component,
    capabilitiesText,
    recordings: [],
    privateHosts: new Set(),
    codeFolder: CACHE,
    progress: () => {},
  });
  const problems = report.findings.filter(
    ({ verdict, subject }) => subject !== "start" && (verdict === "fail" || verdict === "warn"),
  );
  expect(problems).toEqual([]);
});

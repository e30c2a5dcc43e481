import { expect, test } from "vitest";
import { nameTools } from "../../../host/mcp/tools/agreement.ts";

const free = () => false;

test("a tool that is called what another one is made legal to gets a name of its own", () => {
  const [legal = ""] = nameTools("srv", ["a b"], new Map(), free).values();
  expect(legal).toMatch(/^srv_a_b_[0-9a-f]{6}$/);
  const copy = legal.slice("srv_".length);
  for (const tools of [
    ["a b", copy],
    [copy, "a b"],
    [copy.toUpperCase(), "a b"],
  ]) {
    const names = [...nameTools("srv", tools, new Map(), free).values()];
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(2);
  }
  // Also where the other had its name first, and another time.
  const given = new Map([[copy, legal]]);
  expect(nameTools("srv", ["a b"], given, free).get("a b")).not.toBe(legal);
});

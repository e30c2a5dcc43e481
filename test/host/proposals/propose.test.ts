import { expect, test } from "vitest";
import { bootProposals, outcomes, propose, SOURCE } from "../../support/services/proposals.ts";

test("what nobody could agree to is refused before anything is built", async () => {
  const { model, say, names } = await bootProposals();
  for (const [changes, more, code, words] of [
    [{}, { user: "ann" }, "operator_only", "Only an operator"],
    [{}, { user: "telegram/42" }, "operator_only", "Only an operator"],
    [{}, { scope: { token: "t1", tools: ["tool_propose"] } }, "scoped_token", "has a scope"],
    [{ name: "memory_read" }, {}, "tool_name", "reserved for the agent"],
    [{ name: "tool_propose" }, {}, "tool_name", "reserved for the agent"],
    [{ name: "../../etc" }, {}, "tool_name", "letters, digits"],
    [{ source: SOURCE.padEnd(70_000) }, {}, "invalid_params", "source"],
    [{ examples: [{ params: { text: "only one" } }] }, {}, "invalid_params", "examples"],
    [{ capabilities: { limits: { memory_mb: 1_000_000 } } }, {}, "tool_capabilities", "memory_mb"],
    [{ capabilities: { wit_version: "9.9.9" } }, {}, "tool_wit_version", "9.9.9"],
    [
      { capabilities: { http: { allowlist: [{ host: "*", path_prefix: "/", methods: ["POST"] }] } } },
      {},
      "tool_capabilities",
      "GET",
    ],
    [{ capabilities: { network: "everything" } }, {}, "tool_capabilities", "network"],
  ] as const) {
    model.script(propose(changes), { text: "It did not work." });
    const record = await say("Make a tool", more);
    expect(outcomes(record)).toEqual([{ status: "error", code, message: expect.stringContaining(words) }]);
    expect(record.status).toBe("completed");
  }
  expect(await names()).toEqual([]);
});

test("only operators are offered it, and not where their token has a scope", async () => {
  const { model, say } = await bootProposals();
  const offered = async (more: object) => {
    model.script({ text: "Hi." });
    await say("Hello", more);
    return model.requests.at(-1)?.tools?.some((tool) => tool.function.name === "tool_propose") ?? false;
  };
  expect(await offered({})).toBe(true);
  expect(await offered({ user: "ann" })).toBe(false);
  expect(await offered({ scope: { token: "t1", tools: ["tool_propose"] } })).toBe(false);
});

test("where nobody can be asked the tool is not there", async () => {
  const { model, say } = await bootProposals();
  model.script(propose(), { text: "I cannot." });
  const record = await say("Make a tool", { work: { unattended: true } });
  expect(model.requests[0]?.tools?.map((tool) => tool.function.name)).not.toContain("tool_propose");
  expect(outcomes(record)).toMatchObject([{ code: "unknown_tool" }]);
});

/** Plugins in a folder of their own that add to the agent, and that take the place of one of ours. */
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { loadPlugins } from "../../kernel/cli/service/loader.ts";
import { compose } from "../../kernel/order.ts";
import type { AnyPlugin } from "../../kernel/plugin.ts";
import gateway from "../../plugins/gateway/plugin.ts";
import store from "../../plugins/store/plugin.ts";
import { temporaryFolder } from "../support/home.ts";
import { message, scriptedModel, toolsPlugin } from "../support/services/agent.ts";
import { agentPlugins } from "../support/services/agent-plugins.ts";
import { bootKernel } from "../support/services/kernel.ts";
import { routePlugins } from "../support/services/route-plugins.ts";

const TOKEN = "a-token-of-the-operator-0123456789";

/** A service with these plugins, which are loaded as the operator's PLUGINS are. */
async function serviceWith(...names: readonly string[]) {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  for (const name of names)
    copyFileSync(
      fileURLToPath(new URL(`../fixtures/third-party/${name}.ts`, import.meta.url)),
      join(folder, `${name}.ts`),
    );
  const others = await loadPlugins(
    names.map((name) => `./${name}.ts`),
    folder,
  );
  const model = await scriptedModel();
  const tools = toolsPlugin({
    forbidden: { run: () => ({ status: "ok", output: "it ran" }) },
  });
  const shipped = [store, tools, ...agentPlugins, gateway, ...routePlugins] as readonly AnyPlugin[];
  const kernel = await bootKernel(compose(shipped, others), {
    MODEL_BASE_URL: model.url,
    MODEL_NAME: "scripted",
    GATEWAY_PORT: "0",
    GATEWAY_AUTH_TOKEN: TOKEN,
    DICE_SIDES: "20",
  });
  const say = async (text: string, user = "operator") =>
    (await kernel.service("agent").run({ user, channel: "test", input: message(text) })).record;
  return { model, kernel, say };
}

test("a tool of a third party's plugin runs in our process when a turn calls it", async () => {
  const { model, kernel, say } = await serviceWith("dice");
  model.script({ calls: [{ id: "d", name: "roll_dice", arguments: {} }] }, { text: "You have 20." });
  const record = await say("Roll the dice", "ann");
  expect(record.status).toBe("completed");
  expect(record.items).toContainEqual(
    expect.objectContaining({
      type: "tool_result",
      call: "d",
      outcome: { status: "ok", output: "ann rolled 20" },
    }),
  );
  const [first] = model.requests;
  expect(first?.tools?.map((tool) => tool.function.name)).toContain("roll_dice");
  expect(JSON.stringify(first?.messages[0])).toContain("Dice: roll them when asked to.");
  expect(await kernel.service("toolCalls").names()).toContain("roll_dice");
});

test("a check of a third party's plugin is asked before an installed tool is called", async () => {
  const { model, say } = await serviceWith("dice");
  model.script({ calls: [{ id: "f", name: "forbidden", arguments: {} }] }, { text: "I could not." });
  const { items } = await say("Do it");
  expect(items).toContainEqual(
    expect.objectContaining({
      call: "f",
      outcome: { status: "error", code: "no_luck", message: "The dice forbid it." },
    }),
  );
});

test("a plugin that is undone alone ends the turns that run, and later ones do without what it had added", async () => {
  const { model, kernel, say } = await serviceWith("dice");
  const agent = kernel.service("agent");
  const called = Promise.withResolvers<void>();
  const undo = agent.extend({
    tools: [
      {
        name: "toss_coin",
        effect: "reads",
        description: "Tosses a coin that never lands.",
        schema: { type: "object", properties: {}, additionalProperties: false },
        run() {
          called.resolve();
          return new Promise(() => {});
        },
      },
    ],
    preface: async () => ({ sections: [{ text: "Coins: toss them when asked to." }] }),
  });
  const calls = [
    { id: "c", name: "toss_coin", arguments: {} },
    { id: "d", name: "roll_dice", arguments: {} },
  ];
  model.script({ calls: calls.slice(0, 1) });
  const tossing = await agent.run({ user: "ann", channel: "test", input: message("Toss a coin") });
  await called.promise;
  await undo();
  expect(await tossing.record).toMatchObject({ status: "failed", error: { code: "interrupted" } });

  model.script({ calls }, { text: "Only the dice are there." });
  const record = await say("Toss a coin, and roll the dice", "ann");
  expect(record.status).toBe("completed");
  const outcomes = record.items.flatMap((item) => (item.type === "tool_result" ? [item] : []));
  expect(outcomes.map(({ call, outcome }) => [call, outcome])).toEqual([
    ["c", expect.objectContaining({ status: "error", code: "unknown_tool" })],
    ["d", { status: "ok", output: "ann rolled 20" }],
  ]);
  const request = model.requests[1];
  const offered = request?.tools?.map((tool) => tool.function.name);
  expect(offered).toContain("roll_dice");
  expect(offered).not.toContain("toss_coin");
  expect(JSON.stringify(request?.messages[0])).not.toContain("Coins:");

  model.script({ text: "Later it is." });
  const jobs = kernel.service("jobs");
  const { id } = await jobs.submit({ user: "ann", channel: "test", message: "later" });
  expect(await jobs.wait(id, 10_000)).toMatchObject({ status: "completed", response: "Later it is." });
});

test("a third party's memory takes the place of ours: the agent's tools and the API use it", async () => {
  const { model, kernel, say } = await serviceWith("vault");
  expect(kernel.states.find(({ name }) => name === "memory")).toMatchObject({
    on: false,
    detail: "replaced by vault",
  });
  const written = { path: "notes/bike.md", text: "My bike is red." };
  model.script({ calls: [{ name: "memory_write", arguments: written }] }, { text: "Noted." });
  expect((await say("Remember that my bike is red")).status).toBe("completed");
  expect((await kernel.service("memory").read("operator", written.path))?.text).toBe(
    "vault: My bike is red.",
  );
  const answer = await fetch(`${kernel.service("web").url}/api/memory?q=bike`, {
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  expect(await answer.json()).toMatchObject({
    results: [{ path: "notes/bike.md", snippet: "vault: My bike is red." }],
  });
});

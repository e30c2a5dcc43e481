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
  const shipped = [store, tools, ...agentPlugins, gateway] as readonly AnyPlugin[];
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

test("what an undone extension had added is gone, and turns are over by then", async () => {
  const { kernel } = await serviceWith("dice");
  const agent = kernel.service("agent");
  const undo = agent.extend({ tools: [] });
  await undo();
  await expect(agent.run({ user: "ann", channel: "test", input: message("Hi") })).rejects.toMatchObject({
    code: "stopping",
  });
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

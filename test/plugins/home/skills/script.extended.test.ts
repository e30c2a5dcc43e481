/** A skill from elsewhere, followed with its script in the real sandbox. */
import { expect, test } from "vitest";
import tools from "../../../../host/plugin.ts";
import type { AnyPlugin } from "../../../../kernel/plugin.ts";
import { digestOf } from "../../../../plugins/home/skills/bundle.ts";
import store from "../../../../plugins/store/plugin.ts";
import { message, scriptedModel } from "../../../support/services/agent.ts";
import { agentPlugins } from "../../../support/services/agent-plugins.ts";
import { bootKernel } from "../../../support/services/kernel.ts";
import { builtComponent, capabilitiesOf } from "../../../support/tools/shipped.ts";
import { install } from "../../../support/tools/tool-host.ts";

const SCRIPT = `const rows: number[] = files.read("/skills/count/assets/rows.csv").split("\\n").map(Number);
const denied = await tools.call("memory_write", { path: "a.md", text: "b" }).catch((error) => error.message);
return { total: rows.reduce((sum, row) => sum + row, args.start), found: files.list("/skills/count").length, denied };`;

test("its script reads its folder, gets its args and calls what the skill allows", async () => {
  const model = await scriptedModel();
  const kernel = await bootKernel([store, tools, ...agentPlugins] as readonly AnyPlugin[], {
    MODEL_BASE_URL: model.url,
    MODEL_NAME: "scripted",
    TOOLS_SHIPPED: "false",
  });
  const host = await kernel.service("toolHost").open();
  await install(host, "run-code", await builtComponent("run-code"), capabilitiesOf("run-code"));
  const files = new Map(
    Object.entries({
      "SKILL.md":
        "---\nname: count\ndescription: Counts.\nallowed-tools: weather\n---\nRun scripts/count.ts.",
      "scripts/count.ts": SCRIPT,
      "assets/rows.csv": "1\n2\n3",
    }).map(([path, text]) => [path, Buffer.from(text)]),
  );
  const digest = digestOf(files);
  const origin = { kind: "folder", reference: "/elsewhere/count", digest } as const;
  await kernel.service("addedSkills").put({ name: "count", digest, origin }, files);
  const run = {
    name: "skill_run",
    arguments: { name: "count", script: "scripts/count.ts", args: { start: 10 } },
  };
  model.script(
    { calls: [{ name: "skill_load", arguments: { name: "count" } }] },
    { calls: [run] },
    { text: "16." },
  );
  const turn = await kernel.service("agent").run({ user: "ann", channel: "test", input: message("Count") });
  const { items } = await turn.record;
  const results = items.flatMap((item) => (item.type === "tool_result" ? [item] : []));
  const said = JSON.stringify(results[1]?.outcome);
  expect(said).toContain('\\"total\\":16');
  expect(said).toContain("does not allow the tool memory_write");
  expect(results[1]?.origins).toEqual([
    { kind: "tool", name: "run-code" },
    { kind: "skill", name: "count" },
  ]);
});

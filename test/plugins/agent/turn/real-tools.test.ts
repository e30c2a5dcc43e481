import { expect, test } from "vitest";
import tools from "../../../../host/plugin.ts";
import type { AnyPlugin } from "../../../../kernel/plugin.ts";
import store from "../../../../kernel/store/store.ts";
import agent from "../../../../plugins/agent/plugin.ts";
import { message, scriptedModel } from "../../../support/services/agent.ts";
import { bootKernel } from "../../../support/services/kernel.ts";
import { allowing, installProber } from "../../../support/tools/tool-host.ts";

// The component is built and compiled the first time.
const LONG = 180_000;

test(
  "a sandboxed component is called through the real host, and its answer reaches the model as data",
  async () => {
    const model = await scriptedModel();
    model.script(
      { calls: [{ id: "p", name: "prober", arguments: { url: "https://not-allowed.example/v1/x" } }] },
      { text: "It was refused." },
    );
    const kernel = await bootKernel(
      [store, tools, agent] as readonly AnyPlugin[],
      { MODEL_BASE_URL: model.url, MEMORY_VECTORS: "false" },
      { only: ["agent", "threads", "toolHost"] },
    );
    await installProber(await kernel.service("toolHost").open(), allowing("127.0.0.1"));
    const turn = kernel.service("agent").run({ user: "ann", channel: "test", input: message("Probe") });
    const record = await turn.record;
    expect(record.status).toBe("completed");
    expect(record.items).toContainEqual(expect.objectContaining({ type: "tool_result", call: "p" }));
    expect(model.requests[0]?.tools?.map((tool) => tool.function.name)).toContain("prober");
    expect(model.requests[1]?.messages.at(-1)?.content).toContain('<tool-output origin="prober">');
    expect(await kernel.service("externalTools").isReserved("prober")).toBe(true);
  },
  LONG,
);

/** What three hundred tools cost a request: tokens with all and with those that fit, and the time it takes to choose. */
import type { ToolInfo } from "../../kernel/plugin.ts";
import { showTool } from "../../plugins/agent/safety/foreign.ts";
import type { RenderedMessage } from "../../plugins/agent/threads/tokens.ts";
import { estimateTools } from "../../plugins/agent/threads/tokens.ts";
import { chooseTools, type Said } from "../../plugins/agent/turn/tools/choice.ts";
import { searchTool } from "../../plugins/agent/turn/tools/search-tool.ts";
import { createToolIndexes } from "../../plugins/agent/turn/tools/tool-index.ts";
import { ASKED, manyTools } from "../support/services/many-tools.ts";
import { type Bench, compare, interleave, median, single, within } from "./support/bench.ts";

const ROUNDS = 40;
/** Places beside the agent's own tools. */
const PLACES = 25;
const LONG = 200;

const tools: readonly ToolInfo[] = Object.entries(manyTools()).map(([name, { run: _, ...info }]) => ({
  ...{ name, version: "1.0.0", description: "", schema: {}, grants: [], writes: false },
  ...info,
}));

const turn = (at: number): readonly RenderedMessage[] => [
  { role: "user", text: ASKED[at % ASKED.length]?.[0] ?? "" },
  { role: "assistant", text: "Done.", calls: [] },
];

function said(past: Said["past"], at: number): Said {
  const text = ASKED[at % ASKED.length]?.[0] ?? "";
  const items = [{ type: "message", id: "1", role: "user", text } as const];
  return { summary: undefined, past, items, required: [] };
}

export const bench: Bench = {
  name: "tools-many",
  about:
    "three hundred tools: their tokens in a request, all and those that fit; the time that choosing takes",
  async run(progress) {
    const index = createToolIndexes();
    const began = performance.now();
    index(tools);
    const indexed = performance.now() - began;
    const chosen = ASKED.map((_, at) => {
      const known = index(tools);
      const names = chooseTools(known, said([], at), PLACES);
      return estimateTools([
        searchTool(known),
        ...names.flatMap((name) => known.tools.get(name) ?? []).map(showTool),
      ]);
    });
    const tokens = {
      all: [estimateTools(tools.map(showTool))],
      "those that fit the first message": [median(chosen)],
    };
    const timed = (past: Said["past"]) => {
      let at = 0;
      return async () => {
        at += 1;
        const started = performance.now();
        chooseTools(index(tools), said(past, at), PLACES);
        return performance.now() - started;
      };
    };
    const thread = Array.from({ length: LONG }, (_, at) => turn(at));
    const goal = within(2, "ms");
    const times = await interleave(
      { "the first turn": timed([]), [`turn ${LONG + 1}`]: timed(thread) },
      ROUNDS,
      progress,
    );
    return [
      ...compare(tokens, { unit: "tokens" }),
      single("reading the tools, once", indexed, "ms"),
      ...compare(times, {
        unit: "ms",
        what: "choosing",
        goals: { "the first turn": goal, [`turn ${LONG + 1}`]: goal },
      }),
    ];
  },
};

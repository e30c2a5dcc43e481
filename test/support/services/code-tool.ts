/** A tool that calls others, as code does, with the code being a function of the test's own. */
import { distinctOrigins } from "../../../kernel/kit/turns.ts";
import type { Origin } from "../../../kernel/plugin.ts";
import type { TestTool } from "./agent.ts";

export interface Inside {
  /** Calls a tool from inside; throws the sentence where that is refused. */
  call(name: string, params?: object): Promise<string>;
  /** The code reads a file that has these origins. */
  readFile(...origins: Origin[]): void;
}

export type Code = (inside: Inside) => Promise<unknown>;

/** The code that runs is named in the params. What it returns has the origins of what it read, as the tool host sees to it. */
export function codeTool(codes: Readonly<Record<string, Code>>): TestTool {
  let runs = 0;
  return {
    hosts: [],
    agentTools: ["*"],
    params: { code: "content" },
    schema: { type: "object", properties: { code: { type: "string" } } },
    async run(params, signal = new AbortController().signal, _raw, _check, innerCall) {
      const parent = `receipt-${++runs}`;
      const read: Origin[] = [];
      const heard: Origin[] = [];
      let calls = 0;
      const inside: Inside = {
        async call(name, given = {}) {
          const call = { id: `${parent}.${++calls}`, name, params: JSON.stringify(given) };
          const outcome = await innerCall?.(call, { parent, signal, origins: read });
          heard.push(...(outcome?.origins ?? []));
          if (outcome?.ok) return outcome.output;
          throw new Error(outcome?.message ?? "no calls here");
        },
        readFile: (...origins) => void read.push(...origins),
      };
      const value = await codes[(params as { code: string }).code]?.(inside).catch(
        (error: Error) => `threw ${error.message}`,
      );
      const origins = distinctOrigins([...read, ...heard]);
      const output = JSON.stringify({ value: value ?? null, calls });
      return { status: "ok", output, ...(origins.length > 0 && { origins }) };
    },
  };
}

/** The real kernel with the agent, a scripted model and, where wanted, a few tools of the test's own. */

import type { CallOptions, CallOutcome } from "../../../host/services.ts";
import {
  type AnyPlugin,
  type Clock,
  definePlugin,
  type Reply,
  type ToolInfo,
  type TurnEvent,
} from "../../../kernel/plugin.ts";
import type { Variables } from "../../../kernel/settings/env.ts";
import store from "../../../plugins/store/plugin.ts";
import { type ModelServer, startModelServer } from "../servers/model-server.ts";
import { afterThisTest } from "../undo.ts";
import { agentPlugins } from "./agent-plugins.ts";
import { type BootedKernel, bootKernel } from "./kernel.ts";

export interface TestTool extends Partial<Omit<ToolInfo, "name">> {
  /** `raw`: the params as handed over; `checkAddress` is asked before each request; `innerCall` makes calls of other tools. */
  run(
    params: unknown,
    signal: AbortSignal | undefined,
    raw: string,
    checkAddress?: CallOptions["checkAddress"],
    innerCall?: CallOptions["innerCall"],
  ): CallOutcome | Promise<CallOutcome>;
  /** Continues a call that asked something. */
  resume?(resume: string, replies: readonly Reply[]): CallOutcome;
}

export function toolInfo(name: string, { run: _, resume: __, ...info }: TestTool): ToolInfo {
  return {
    name,
    version: "1.0.0",
    description: `The ${name} tool.`,
    schema: { type: "object" },
    grants: [`may use ${name}`],
    writes: false,
    ...info,
  };
}

/** A plugin that provides `tools` from functions, as any third party could. */
export function toolsPlugin(tools: Readonly<Record<string, TestTool>>): AnyPlugin {
  return definePlugin({
    name: "test-tools",
    provides: ["tools"],
    configure: () => ({}),
    start: () => ({
      tools: {
        list: async () => Object.entries(tools).map(([name, tool]) => toolInfo(name, tool)),
        call: async ({ name, params }, { signal, checkAddress, innerCall }) =>
          (await tools[name]?.run(JSON.parse(params), signal, params, checkAddress, innerCall)) ?? {
            status: "error",
            code: "missing",
            message: `no tool ${name}`,
          },
        resume: async ({ name }, resume, replies) =>
          tools[name]?.resume?.(resume, replies) ?? {
            status: "error",
            code: "missing",
            message: `${name} asked nothing`,
          },
      },
    }),
  });
}

export async function scriptedModel(later = afterThisTest): Promise<ModelServer> {
  const server = await startModelServer();
  later(server.close);
  return server;
}

export interface AgentOptions {
  readonly model?: ModelServer;
  readonly variables?: Variables;
  readonly tools?: Readonly<Record<string, TestTool>>;
  /** Starts on the home of an earlier one. */
  readonly home?: string;
  /** False for a command beside the service. */
  readonly serving?: boolean;
  readonly clock?: Clock;
  /** What else starts. */
  readonly plugins?: readonly AnyPlugin[];
}

export function bootAgent({
  model,
  variables,
  tools,
  plugins = [],
  home,
  serving = true,
  clock,
}: AgentOptions = {}): Promise<BootedKernel> {
  return bootKernel(
    [store as AnyPlugin, ...(tools ? [toolsPlugin(tools)] : []), ...agentPlugins, ...plugins],
    {
      ...(model ? { MODEL_BASE_URL: model.url, MODEL_NAME: "scripted" } : { MODEL_PROVIDER: "builtin" }),
      ...variables,
    },
    {
      ...(home !== undefined && { home }),
      ...(!serving && { only: ["jobs"] }),
      ...(clock && { clock }),
    },
  );
}

/** Every event of a turn, to its end. */
export async function eventsOf(turn: AsyncIterable<TurnEvent>): Promise<TurnEvent[]> {
  const events: TurnEvent[] = [];
  for await (const event of turn) events.push(event);
  return events;
}

export function textIn(events: readonly TurnEvent[]): string {
  return events.map((event) => (event.type === "text" ? event.delta : "")).join("");
}

export function message(text: string) {
  return { type: "message", text } as const;
}

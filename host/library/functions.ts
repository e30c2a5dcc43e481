/** Tools as plain functions with a JSON Schema, which is how every model's API takes them; and as a `ToolSet` of the AI SDK. */
import { Fault, type JsonSchema, type ToolInfo } from "../../kernel/plugin.ts";
import type { ToolHost } from "./contract.ts";

export interface ToolFunction {
  readonly name: string;
  readonly description: string;
  /** The JSON Schema of the params. */
  readonly parameters: JsonSchema;
  /** Returns the output, which is JSON. Throws a `Fault` that the model can read if there is none. */
  call(params: object | string, options?: { readonly signal?: AbortSignal | undefined }): Promise<string>;
}

export interface AdapterOptions {
  /** Every call is this user's. */
  readonly user: string;
}

type Host = Pick<ToolHost, "list" | "call">;

/** Those that are set up and not switched off. */
export const usableTools = async (host: Pick<ToolHost, "list">, user: string): Promise<readonly ToolInfo[]> =>
  (await host.list(user)).filter(
    ({ switchedOff, needs }) => switchedOff === undefined && needs?.isOffered !== false,
  );

/** The tools that can be called now. */
export async function toolFunctions(host: Host, { user }: AdapterOptions): Promise<readonly ToolFunction[]> {
  const tools = await usableTools(host, user);
  return tools.map(({ name, description, schema }) => ({
    name,
    description,
    parameters: schema,
    async call(params, { signal } = {}) {
      const outcome = await host.call(name, params, { user, ...(signal && { signal }) });
      if (outcome.status === "ok") return outcome.output;
      const { status, message } = outcome;
      if (status === "unauthenticated") throw new Fault("unauthenticated", "no_credential", message);
      throw new Fault("unavailable", outcome.code, message);
    },
  }));
}

/** A tool as the AI SDK takes one whose types it does not know. */
export interface AiTool {
  readonly type: "dynamic";
  readonly description: string;
  // biome-ignore lint/suspicious/noExplicitAny: the type of a schema there is marked by a symbol that only the SDK can name
  readonly inputSchema: any;
  execute(input: unknown, options: { readonly abortSignal?: AbortSignal | undefined }): Promise<string>;
}

/** A `ToolSet` for `generateText`, `streamText` and agents of the AI SDK. */
export async function aiTools(host: Host, options: AdapterOptions): Promise<Record<string, AiTool>> {
  const functions = await toolFunctions(host, options);
  return Object.fromEntries(
    functions.map(({ name, description, parameters, call }) => {
      // What its `jsonSchema()` makes. The params are checked in the tool's own process.
      const inputSchema = {
        [Symbol.for("vercel.ai.schema")]: true,
        jsonSchema: parameters,
        validate: undefined,
      };
      const execute: AiTool["execute"] = (input, { abortSignal }) =>
        call(input as object, { signal: abortSignal });
      return [name, { type: "dynamic", description, inputSchema, execute }];
    }),
  );
}

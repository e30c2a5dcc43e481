/** The gateway with the MCP channel, and the SDK's own clients of it, for both revisions. */
import { Client, type ClientOptions, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { AnyPlugin } from "../../../kernel/plugin.ts";
import mcpPlugin from "../../../plugins/mcp/plugin.ts";
import { afterThisTest } from "../undo.ts";
import type { TestTool } from "./agent.ts";
import { type GatewayOptions, OPERATOR_TOKEN, openGateway, type TestGateway } from "./gateway.ts";

export const REVISIONS = ["2026-07-28", "2025-11-25"] as const;
export type Revision = (typeof REVISIONS)[number];

export interface ClientSettings extends ClientOptions {
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface TestMcp extends TestGateway {
  readonly endpoint: URL;
  client(revision: Revision, settings?: ClientSettings): Promise<Client>;
}

export async function openMcp(options: GatewayOptions = {}): Promise<TestMcp> {
  const gateway = await openGateway({
    ...options,
    plugins: [mcpPlugin as AnyPlugin, ...(options.plugins ?? [])],
  });
  const endpoint = new URL(`${gateway.url}/mcp`);
  return {
    ...gateway,
    endpoint,
    client: (revision, settings) => connectClient(endpoint, revision, settings),
  };
}

export async function connectClient(
  endpoint: URL,
  revision: Revision,
  { token = OPERATOR_TOKEN, headers, ...options }: ClientSettings = {},
): Promise<Client> {
  const client = new Client(
    { name: "test", version: "1.0.0" },
    {
      versionNegotiation: { mode: revision === "2026-07-28" ? { pin: revision } : "legacy" },
      ...options,
    },
  );
  const requestInit = { headers: { authorization: `Bearer ${token}`, ...headers } };
  await client.connect(new StreamableHTTPClientTransport(endpoint, { requestInit }));
  afterThisTest(() => client.close());
  return client;
}

/** The texts of a result, one below the other. */
export function textOf(result: { readonly content?: unknown }): string {
  return (result.content as { type: string; text?: string }[])
    .flatMap(({ type, text }) => (type === "text" && text !== undefined ? [text] : []))
    .join("\n");
}

/** A tool whose calls end when the test says so, or when they are cancelled. */
export function slowTool() {
  const { promise, resolve } = Promise.withResolvers<void>();
  let started = 0;
  let aborted = 0;
  const tool: TestTool = {
    async run(_params, signal) {
      started += 1;
      await new Promise<void>((done) => {
        void promise.then(done);
        signal?.addEventListener("abort", () => {
          aborted += 1;
          done();
        });
      });
      return { status: "ok", output: "in the end" };
    },
  };
  return { tool, finish: resolve, started: () => started, aborted: () => aborted };
}

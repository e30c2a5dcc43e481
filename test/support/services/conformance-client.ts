/** Our client code, driven through the scenarios of the official conformance suite: the sessions and the access with credentials. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { FetchLike } from "@modelcontextprotocol/client";
import { SessionFailed } from "../../../host/mcp/session/failure.ts";
import { openSession, type Session } from "../../../host/mcp/session/session.ts";
import type { McpTarget } from "../../../host/mcp/sign-in/target.ts";
import type { Definition } from "../../../host/mcp/tools/definition.ts";
import { type OpenedAccess, openMcpAccess, REDIRECT_URI } from "./mcp-access.ts";

interface Scenario {
  readonly url: string;
  readonly scenario: string;
  readonly context: {
    readonly client_id?: string;
    readonly client_secret?: string;
    readonly toolCalls?: readonly { readonly name: string; readonly arguments: Record<string, unknown> }[];
  };
}

/** The suite's servers are on ports of this machine that nobody knows beforehand. */
class ThisMachine extends Set<string> {
  override has(host: string): boolean {
    return /^(localhost|127\.0\.0\.1):/.test(host);
  }
}

const CLIENT_DOCUMENT = "https://conformance-test.local/client-metadata.json";
const USER = "operator";
/** More than any scenario needs: a client that does not stop by itself fails. */
const MOST_SIGN_INS = 6;

export async function openConformanceClient(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const opened = await openMcpAccess({ privateHosts: new ThisMachine(), documentUrl: () => CLIENT_DOCUMENT });
  let count = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      count += 1;
      const scenario = JSON.parse(Buffer.concat(chunks).toString()) as Scenario;
      play(opened, `scenario-${count}`, scenario).then(
        () => response.end(),
        (error: Error) => response.writeHead(500).end(`${scenario.scenario}: ${error.message}`),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await opened.close();
    },
  };
}

async function play({ access }: OpenedAccess, name: string, given: Scenario): Promise<void> {
  const { url, scenario, context } = given;
  const target: McpTarget = {
    name,
    url,
    perUser: false,
    ...(context.client_id !== undefined && {
      credential: {
        oauth: { clientId: context.client_id, clientSecretSecret: "client", scopes: [] },
      },
    }),
  };
  if (context.client_secret !== undefined) await access.setClientSecret(target, context.client_secret);
  const send = access.fetchFor(target, USER);
  const over = new AbortController();
  const connect = (): Promise<Session> =>
    openSession({
      target: {
        type: "http",
        url: new URL(url),
        fetch: LACKS_DISCOVERY.has(scenario) ? answerDiscovery(send) : send,
      },
      version: "1.0.0",
      signal: over.signal,
      onToolsChanged: () => {},
      onQuestion: async () => ({ action: "accept", content: {} }),
      onLost: () => {},
    });
  /** As a person does who is asked to sign in, and then lets the call go on. */
  const signedIn = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    for (let signIns = 0; ; signIns += 1) {
      try {
        return await work();
      } catch (error) {
        const isAsked = error instanceof SessionFailed && error.kind === "unauthenticated";
        if (!isAsked || signIns >= MOST_SIGN_INS) throw error;
      }
      const begun = await access.beginSignIn(target, USER, REDIRECT_URI);
      const { headers } = await fetch(begun.url, { redirect: "manual" });
      await access.finishSignIn(new URL(headers.get("location") ?? ""), async () => target);
    }
  };
  const session = await signedIn(connect);
  try {
    const { definitions } = await signedIn(() => session.listTools(over.signal));
    for (const [definition, params] of callsOf(definitions, given))
      await signedIn(() => callToEnd(session, definition, params, over.signal)).catch((error: unknown) => {
        // Scenarios with tools of several kinds look at what was sent, not at what came back.
        if (definitions.length === 1) throw error;
      });
  } finally {
    await session.close();
    over.abort();
  }
}

/** Which tools are called, and with what. */
function callsOf(definitions: readonly Definition[], { context }: Scenario) {
  const calls = context.toolCalls?.map(({ name, arguments: params }) => [name, params] as const);
  if (calls === undefined)
    return definitions.map((definition) => [definition, sampleOf(definition)] as const);
  return calls.flatMap(([name, params]) => {
    const definition = definitions.find(({ tool }) => tool === name);
    return definition === undefined ? [] : [[definition, params] as const];
  });
}

function sampleOf({ schema }: Definition): Record<string, unknown> {
  const properties = (schema as { properties?: Record<string, { type?: string }> }).properties ?? {};
  return Object.fromEntries(
    Object.entries(properties).map(([name, { type }]) => [name, type === "number" ? 5 : "us-west1"]),
  );
}

/** What the server asks in between is answered, as often as it asks. */
async function callToEnd(
  session: Session,
  definition: Definition,
  params: Record<string, unknown>,
  signal: AbortSignal,
): Promise<void> {
  let retry: Record<string, unknown> | undefined;
  for (let rounds = 0; rounds < 5; rounds += 1) {
    const answer = await session.call(definition, params, signal, retry);
    if (answer.type === "result") return;
    const asked = Object.keys(answer.requests as object);
    retry = {
      inputResponses: Object.fromEntries(
        asked.map((id) => [id, { action: "accept", content: { confirmed: true } }]),
      ),
      ...(answer.state !== undefined && { requestState: answer.state }),
    };
  }
}

/** The suite's servers for these are of the newer revision, and do not answer the question that finds that out. */
const LACKS_DISCOVERY = new Set([
  "sep-2322-client-request-state",
  "http-standard-headers",
  "http-custom-headers",
  "http-invalid-tool-headers",
]);

function answerDiscovery(send: FetchLike): FetchLike {
  return async (url, init) => {
    const message = typeof init?.body === "string" ? JSON.parse(init.body) : {};
    if (message.method !== "server/discover") return send(url, init);
    const result = {
      supportedVersions: ["2026-07-28"],
      capabilities: { tools: {} },
      _meta: { "io.modelcontextprotocol/serverInfo": { name: "scenario", version: "1.0.0" } },
    };
    return Response.json({ jsonrpc: "2.0", id: message.id, result });
  };
}

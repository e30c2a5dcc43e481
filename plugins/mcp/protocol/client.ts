/** Reads what the client of a request declares that it can do. */
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  MissingRequiredClientCapabilityError,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";

export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

/** Says whether the client can show its person a form, and open a page. */
export type Abilities = Readonly<Record<"form" | "url", boolean>>;

/** Declared with the request since 2026-07-28, and when the session began before that. */
export const capabilitiesOf = (server: Server, context: ServerContext): ClientCapabilities =>
  declaredWith(context) ?? server.getClientCapabilities() ?? {};

export function abilitiesOf(server: Server, context: ServerContext): Abilities {
  const { elicitation } = capabilitiesOf(server, context);
  if (elicitation === undefined) return { form: false, url: false };
  const { form, url } = elicitation;
  // Clients from before there were modes can only show forms.
  return { form: form !== undefined || url === undefined, url: url !== undefined };
}

export const knowsTasks = (context: ServerContext): boolean =>
  asObject(declaredWith(context)?.extensions)[TASKS_EXTENSION] !== undefined;

export function assertKnowsTasks(context: ServerContext): void {
  if (knowsTasks(context)) return;
  throw new MissingRequiredClientCapabilityError({
    requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } },
  });
}

export const asObject = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};

function declaredWith({ mcpReq }: ServerContext): ClientCapabilities | undefined {
  const envelope: Readonly<Record<string, unknown>> = mcpReq.envelope ?? {};
  return envelope[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined;
}

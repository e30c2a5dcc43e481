/** What the client can put before its person. */
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";

export interface Abilities {
  /** A form to fill in. */
  readonly form: boolean;
  /** An address to open. */
  readonly url: boolean;
}

export function abilitiesOf(server: Server, { mcpReq }: ServerContext): Abilities {
  const envelope = mcpReq.envelope as Readonly<Record<string, unknown>> | undefined;
  const declared =
    (envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined) ??
    server.getClientCapabilities();
  const elicitation = declared?.elicitation;
  if (elicitation === undefined) return { form: false, url: false };
  const { form, url } = elicitation;
  // Before there were modes, a form was all there was.
  return { form: form !== undefined || url === undefined, url: url !== undefined };
}

/**
 * Session ids that say how the session began, sealed for the caller. Whichever node gets one can go on with the session, also
 * after a restart, and nobody else's id opens.
 */
import type { InitializeRequest } from "@modelcontextprotocol/server";
import { seal, unseal } from "../../../kernel/kit.ts";
import type { Caller, Store } from "../../../kernel/plugin.ts";

export type Opening = InitializeRequest["params"];

export interface SessionIds {
  create(caller: Caller, opening: Opening): string;
  /** How that session of this caller began; undefined where it is none of theirs, or too old. */
  read(caller: Caller, id: string): Opening | undefined;
}

interface Sealed {
  readonly at: number;
  readonly opening: Opening;
}

const LONGEST_MILLIS = 7 * 86_400_000;
const LONGEST_NAME = 60;

export async function createSessionIds(store: Pick<Store, "keysFor">): Promise<SessionIds> {
  const key = await store.keysFor("mcp sessions");
  // A token with a scope has sessions of its own: what one may do must not depend on who began it.
  const nameOf = ({ user, scope }: Caller) => `mcp session of ${user}\0${scope?.token ?? ""}`;
  return {
    create: (caller, opening) =>
      seal(
        key,
        nameOf(caller),
        JSON.stringify({ at: Date.now(), opening: shorten(opening) } satisfies Sealed),
      ),
    read(caller, id) {
      try {
        const { at, opening } = JSON.parse(unseal(key, nameOf(caller), id)) as Sealed;
        return Date.now() - at < LONGEST_MILLIS ? opening : undefined;
      } catch {
        return undefined;
      }
    },
  };
}

/** What matters later: it travels with every request. */
function shorten({ protocolVersion, capabilities, clientInfo }: Opening): Opening {
  const { form, url } = capabilities.elicitation ?? {};
  const elicitation = { ...(form && { form: {} }), ...(url && { url: {} }) };
  return {
    protocolVersion: protocolVersion.slice(0, LONGEST_NAME),
    capabilities: capabilities.elicitation ? { elicitation } : {},
    clientInfo: {
      name: clientInfo.name.slice(0, LONGEST_NAME),
      version: clientInfo.version.slice(0, LONGEST_NAME),
    },
  };
}

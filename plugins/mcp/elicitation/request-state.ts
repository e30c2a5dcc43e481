/** What a call waits for, kept by the client: signed for one caller and one call, valid for an hour, on every node. */
import { hash, randomUUID } from "node:crypto";
import {
  createRequestStateCodec,
  ProtocolError,
  ProtocolErrorCode,
  type RequestStateCodec,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { seal, unseal } from "../../../kernel/kit/secrets.ts";
import type { Caller } from "../../agent/services.ts";
import type { Store } from "../../store/services.ts";
import { createUsedStates } from "./used-states.ts";

const TTL_SECS = 3600;
export const OTHER_CALL = "This requestState belongs to another call.";

export type AwaitedInput =
  /** A person has to allow the call. */
  | { readonly for: "approval"; readonly call: string; readonly fingerprint: string }
  /** The server behind the tool asks something. `resume` is sealed: whoever has it can continue the call. */
  | {
      readonly for: "question";
      readonly call: string;
      readonly resume: string;
      readonly keys: readonly string[];
    }
  /** The tool has no credential yet. */
  | { readonly for: "sign_in" }
  /** The offer of another plugin asks something, and keeps a state of its own. */
  | { readonly for: "offer"; readonly state: unknown }
  /** A turn of the agent waits at a gate. */
  | { readonly for: "gate"; readonly thread: string; readonly gate: string; readonly first: string };

interface Signed {
  readonly id: string;
  /** A digest of the tool's name and params. */
  readonly of: string;
  readonly waiting: AwaitedInput;
}

export type RequestStates = ReturnType<Awaited<ReturnType<typeof createRequestStates>>>;

export async function createRequestStates(store: Store) {
  const [keys, sealingKey, markUsed] = await Promise.all([
    store.keysFor("mcp request state"),
    store.keysFor("mcp sealed texts"),
    createUsedStates(store),
  ]);
  return ({ user, scope }: Caller) => {
    const owner = `${user}\0${scope?.token ?? ""}`;
    const codecOf = (key: Uint8Array): RequestStateCodec<Signed> =>
      createRequestStateCodec<Signed>({ key, ttlSeconds: TTL_SECS, bind: () => owner });
    const sealedName = `mcp resume of ${owner}`;
    return {
      /** For the server's options: refuses a state that is not ours, not this caller's, or too old. */
      verify(state: string, context: ServerContext): Promise<unknown> {
        // The state does not say which key signed it, so each key in use is tried.
        const [first, ...others] = keys.all();
        return others.reduce(
          (before, key) => before.catch(() => codecOf(key).verify(state, context)),
          codecOf(first).verify(state, context),
        );
      },
      mint: (waiting: AwaitedInput, name: string, params: string, context: ServerContext): Promise<string> =>
        codecOf(keys.all()[0]).mint({ id: randomUUID(), of: digestOf(name, params), waiting }, context),
      /** Returns what this request continues; refuses the state of another call. */
      read(name: string, params: string, { mcpReq }: ServerContext): Signed | undefined {
        const signed = mcpReq.requestState<Signed>();
        if (signed === undefined) return undefined;
        if (signed.of !== digestOf(name, params))
          throw new ProtocolError(ProtocolErrorCode.InvalidParams, OTHER_CALL);
        return signed;
      },
      /** Resolves to true the first time. */
      markUsed: (id: string) => markUsed(id, TTL_SECS),
      seal: (text: string) => seal(sealingKey, sealedName, text),
      unseal: (sealed: string) => unseal(sealingKey, sealedName, sealed),
    };
  };
}

const digestOf = (name: string, params: string): string =>
  hash("sha256", JSON.stringify([name, params]), "base64url");

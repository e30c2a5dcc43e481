/** Why a call of a server's tool was refused or failed, as an outcome that the model reads. */
import { invalidParams } from "../../../kernel/kit/schema.ts";
import { reason, type ToolCall, type ToolOutcome } from "../../../kernel/plugin.ts";
import type { CallOptions, CallOutcome } from "../../services.ts";
import { SessionFailed } from "../session/failure.ts";
import { stateForCalls } from "../tools/agreement.ts";
import type { Definition } from "../tools/definition.ts";
import type { StoredServer, StoredTool } from "../tools/rows.ts";

export class Refused extends Error {
  readonly outcome: Extract<ToolOutcome, { status: "error" }>;

  constructor(code: string, message: string) {
    super(message);
    this.outcome = { status: "error", code, message };
  }
}

/** Returns the definition that the operator agreed to; throws where the tool may not be called. */
export function requireUsable(
  name: string,
  found: { readonly server: StoredServer; readonly tool: StoredTool } | undefined,
): Definition {
  if (found === undefined) throw noSuchTool(name);
  const { server, tool } = found;
  const state = stateForCalls(server, tool);
  if (state === "off")
    throw new Refused(
      "switched_off",
      `${name} is not among the tools of ${server.name} that the operator allows.`,
    );
  if (state === "held")
    throw new Refused(
      "held_back",
      `${name} is held back: ${server.name} changed it, or offers it only now, and the operator has not seen that yet.`,
    );
  if (!tool.isThere || tool.agreed === undefined)
    throw new Refused("unavailable", `${server.name} no longer offers ${name}.`);
  return tool.agreed;
}

export function noSuchTool(name: string): Refused {
  return new Refused("no_such_tool", `There is no tool named "${name}".`);
}

export function refuseParams(why: string): Refused {
  const { code, message } = invalidParams(why);
  return new Refused(code, message);
}

export function explain(
  { name, file: { target } }: StoredServer,
  call: ToolCall,
  { signal }: CallOptions,
  error: unknown,
): CallOutcome {
  if (error instanceof Refused) return error.outcome;
  const fail = (code: string, message: string) => new Refused(code, message).outcome;
  if (signal?.aborted === true) return fail("cancelled", "The call was cancelled.");
  if (!(error instanceof SessionFailed)) return fail("unavailable", reason(error));
  const { kind, message } = error;
  switch (kind) {
    case "unauthenticated": {
      const secret = target.type === "http" ? target.credential.secretName : name;
      return { status: "unauthenticated", tool: call.name, secret, message };
    }
    case "refused":
      return fail("tool_error", `${name}: ${message}`);
    case "timeout":
      return fail("timeout", `${name}: ${message}`);
    case "unreachable":
      return fail("unavailable", `${name} cannot be used: ${message}`);
  }
}

/** Outcomes of calls that come to nothing, in words. */
import type { ToolOutcome } from "../../../kernel/plugin.ts";
import type { ConnectionFailed } from "../session/failure.ts";
import type { Definition } from "../tools/definition.ts";
import type { StoredServer, StoredTool } from "../tools/rows.ts";

/** A tool that may be called, as the operator agreed to it. */
export interface Ready {
  readonly server: StoredServer;
  readonly tool: StoredTool;
  readonly definition: Definition;
}

export type Refusal = Extract<ToolOutcome, { status: "error" }>;

export function refuse(code: string, message: string): Refusal {
  return { status: "error", code, message };
}

export function isRefusal(value: object): value is Refusal {
  return (value as { status?: unknown }).status === "error" && "code" in value;
}

export function failed(server: StoredServer, tool: string, { kind, message }: ConnectionFailed): ToolOutcome {
  switch (kind) {
    case "unauthenticated": {
      const { target } = server.file;
      const secret = target.type === "http" ? target.credential.secretName : server.name;
      return { status: "unauthenticated", tool, secret, message };
    }
    case "refused":
      return refuse("tool_error", `${server.name}: ${message}`);
    case "timeout":
      return refuse("timeout", `${server.name}: ${message}`);
    case "unreachable":
      return refuse("unavailable", `${server.name} cannot be used: ${message}`);
  }
}

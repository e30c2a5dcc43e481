/** What the host saw of one call of a server's tool. */
import type { CallOptions, CallOutcome, ToolCall } from "../../../kernel/plugin.ts";
import type { Receipt } from "../../calls/receipts.ts";
import type { StoredServer } from "../tools/rows.ts";
import type { Ready } from "./refusal.ts";

/** What is told of the request. */
export interface Traffic {
  bytes: number;
  /** 0 where nothing was sent. */
  millis: number;
}

export function writeReceipt(seen: {
  readonly id: string;
  readonly at: number;
  readonly call: ToolCall;
  readonly options: CallOptions;
  readonly found: Ready | undefined;
  readonly outcome: CallOutcome;
  readonly traffic: Traffic;
}): Receipt {
  const { id, at, call, options, found, outcome, traffic } = seen;
  const { bytes, millis } = traffic;
  const error = outcome.status === "error" ? { error: outcome.message.slice(0, 300) } : {};
  const names = found === undefined ? [] : credentialsOf(found.server);
  return {
    id,
    at: new Date(at).toISOString(),
    tool: call.name,
    digest: found?.definition.digest ?? "",
    user: options.user,
    ...(options.channel && { channel: options.channel }),
    millis: Date.now() - at,
    ...summaryOf(outcome),
    requests:
      found === undefined || millis === 0
        ? []
        : [
            {
              method: "tools/call",
              host: hostOf(found.server),
              bytes,
              millis,
              credentials: names,
              ...error,
            },
          ],
    credentials: millis === 0 ? [] : names,
    memoryPeak: 0,
    logs: [],
    logsDropped: 0,
  };
}

function summaryOf(outcome: CallOutcome): Pick<Receipt, "status" | "code" | "message"> {
  const { status } = outcome;
  if (status === "error") return { status, code: outcome.code, message: outcome.message };
  if (status === "unauthenticated") return { status, code: "unauthenticated", message: outcome.message };
  return { status };
}

function hostOf({ name, file: { target } }: StoredServer): string {
  return target.type === "http" ? new URL(target.url).host : `the command of ${name}`;
}

function credentialsOf({ file: { target } }: StoredServer): readonly string[] {
  if (target.type === "command") return target.env;
  return target.credential.isNamed ? [target.credential.secretName] : [];
}

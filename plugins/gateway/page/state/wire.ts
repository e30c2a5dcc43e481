/** Requests to the gateway, and the types of its JSON, taken from the declarations. */

import type { Wire } from "../../../../kernel/schema/declare.ts";
import type * as live from "../../../../kernel/settings/live.ts";
import type * as destination from "../../../../kernel/vocabulary/destination.ts";
import type * as gate from "../../../../kernel/vocabulary/gate.ts";
import type * as job from "../../../../kernel/vocabulary/job.ts";
import type * as mcp from "../../../../kernel/vocabulary/mcp.ts";
import type * as memory from "../../../../kernel/vocabulary/memory.ts";
import type * as model from "../../../../kernel/vocabulary/model.ts";
import type * as modelCheck from "../../../../kernel/vocabulary/model-check.ts";
import type * as routine from "../../../../kernel/vocabulary/routine.ts";
import type * as thread from "../../../../kernel/vocabulary/thread.ts";
import type * as toolAdmin from "../../../../kernel/vocabulary/tool-admin.ts";
import type * as call from "../../../../kernel/vocabulary/tool-call.ts";
import type * as tools from "../../../../kernel/vocabulary/tools.ts";
import type * as turn from "../../../../kernel/vocabulary/turn.ts";
import type * as figures from "../../../../kernel/vocabulary/usage.ts";
import type { Usage as DeclaredUsage } from "../../../../kernel/vocabulary/usage.ts";
import type * as user from "../../../../kernel/vocabulary/user.ts";
import type * as api from "../../api/schemas.ts";
import type * as approvals from "../../routes/approvals.ts";
import type * as attachments from "../../routes/attachments.ts";
import type * as frame from "../../socket/frame.ts";

export type Answer = Wire<typeof approvals.Answer>;
export type Attachment = Wire<typeof call.Attachment>;
export type Decision = NonNullable<Answer["decision"]>;
export type Question = Wire<typeof gate.Question>;
export type McpServer = Wire<typeof mcp.McpServerInfo>;
export type McpTool = Wire<typeof mcp.McpTool>;
export type Accepted = Wire<typeof api.Accepted>;
export type Account = Wire<typeof user.Account>;
export type Figure = Wire<typeof figures.Figure>;
export type Figures = Wire<typeof figures.Figures>;
export type Doubt = Wire<typeof gate.Doubt>;
export type Gate = Wire<typeof gate.Gate>;
export type Identity = Wire<typeof user.Identity>;
export type Integration = Wire<typeof job.Integration>;
export type Job = Wire<typeof job.Job>;
export type Routine = Wire<typeof routine.Routine>;
export type RoutinePreview = Wire<typeof routine.RoutinePreview>;
export type RoutineRun = Wire<typeof routine.RoutineRun>;
export type MemoryFile = Wire<typeof memory.MemoryFile>;
export type MemoryVersion = Wire<typeof memory.MemoryVersion>;
export type MemoryHit = Wire<typeof memory.MemoryHit>;
export type BrowserSession = Wire<typeof user.SessionInfo>;
export type ModelOption = Wire<typeof model.ModelOption>;
export type ModelName = Wire<typeof model.ModelName>;
export type Outcome = Wire<typeof call.ToolOutcome>;
export type PairingGate = Wire<typeof user.PairingGate>;
export type Session = Wire<typeof api.Session>;
export type SocketFrame = Wire<typeof frame.SocketFrame>;
export type Status = Wire<typeof api.Status>;
export type ThreadRow = Wire<typeof thread.ThreadSummary>;
export type Token = Wire<typeof user.TokenInfo>;
export type Tool = Wire<typeof tools.ToolInfo>;
export type ToolCall = Wire<typeof call.ToolCall>;
export type ListedTool = Wire<typeof toolAdmin.ListedTool>;
export type ToolFinding = Wire<typeof toolAdmin.ToolFinding>;
export type ToolLimits = Wire<typeof toolAdmin.ToolLimits>;
export type ToolProposal = Wire<typeof toolAdmin.ToolProposal>;
export type ToolReceipt = Wire<typeof tools.ToolReceipt>;
export type Setting = Wire<typeof live.ChangeableSetting>;
export type ModelTest = Wire<typeof modelCheck.ModelTest>;
export type Setup = Wire<typeof toolAdmin.ToolSetup>;
export type Turn = Wire<typeof turn.TurnRecord>;
export type TrustedDestination = Wire<typeof destination.TrustedDestination>;
export type TurnFrame = Wire<typeof frame.TurnFrame>;
export type TurnVersions = Wire<typeof thread.TurnVersions>;
export type TurnStatus = Wire<typeof turn.TurnStatus>;
export type Upload = Wire<typeof attachments.Upload>;
export type Usage = Wire<typeof DeclaredUsage>;
export type User = Wire<typeof user.User>;

/** Pinned threads first, then the newest; `next` is the start of the following page. */
export interface ThreadPage {
  readonly threads: readonly ThreadRow[];
  readonly next: string | null;
}

/** Oldest first; `next` leads to the page of earlier turns. */
export interface TurnPage {
  readonly turns: readonly Turn[];
  readonly next: string | null;
  readonly versions: readonly TurnVersions[];
}

interface FieldProblem {
  readonly param: string;
  readonly message: string;
}

type Refusal = Pick<Refused, "message" | "problems"> & { readonly code: string };

/** A refused request, with the gateway's message. */
export class Refused extends Error {
  readonly status: number;
  readonly code: string | undefined;
  /** The wrong fields, if there may be several. */
  readonly problems: readonly FieldProblem[] | undefined;

  constructor(status: number, message: string, code?: string, problems?: readonly FieldProblem[]) {
    super(message);
    this.status = status;
    this.code = code;
    this.problems = problems;
  }
}

let changes = 0;

/** Returns how many requests that change something have succeeded. */
export const countChanges = (): number => changes;

export async function ask<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
  const isBytes = body instanceof FormData;
  const sent = isBytes ? body : JSON.stringify(body);
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      credentials: "same-origin",
      ...(body === undefined
        ? {}
        : { body: sent, headers: isBytes ? {} : { "content-type": "application/json" } }),
    });
  } catch {
    throw new Refused(0, "Cannot reach Postern. Your draft is saved; try again when the connection is back.");
  }
  const text = await response.text();
  if (!response.ok) throw refusalOf(response, text);
  if (method !== "GET") changes++;
  return (text === "" ? undefined : JSON.parse(text)) as Answer;
}

function refusalOf({ status, headers }: Response, text: string): Refused {
  try {
    const { message, code, problems } = (JSON.parse(text) as { error: Refusal }).error;
    return new Refused(status, message, code, problems);
  } catch {
    const wait = headers.get("retry-after");
    const words = text.slice(0, 300) || `HTTP ${status}`;
    return new Refused(status, `${words}${wait ? ` (try again in ${wait} s)` : ""}`);
  }
}

/** Requests to the gateway, and the types of its JSON, taken from the declarations. */

import type * as jobs from "../../../kernel/kit/jobs.ts";
import type * as memory from "../../../kernel/kit/memory.ts";
import type * as messaging from "../../../kernel/kit/messaging.ts";
import type * as people from "../../../kernel/kit/people.ts";
import type * as called from "../../../kernel/kit/tools.ts";
import type * as turns from "../../../kernel/kit/turns.ts";
import type { Wire } from "../../../kernel/schema/declare.ts";
import type * as gate from "../../../kernel/vocabulary/gate.ts";
import type * as call from "../../../kernel/vocabulary/tool-call.ts";
import type * as turn from "../../../kernel/vocabulary/turn.ts";
import type * as api from "../../gateway/api/schemas.ts";
import type * as tools from "../../gateway/api/tools.ts";
import type * as files from "../../gateway/api/workspace.ts";
import type * as frame from "../../gateway/socket/frame.ts";
import { text as words } from "../text/text.ts";

export type Answer = Wire<typeof api.Answer>;
export type Attachment = Wire<typeof called.Attachment>;
export type Decision = NonNullable<Answer["decision"]>;
export type Question = Wire<typeof gate.Question>;
export type McpServer = Wire<typeof called.McpServerInfo>;
export type McpTool = Wire<typeof called.McpTool>;
export type Accepted = Wire<typeof api.Accepted>;
export type Account = Wire<typeof people.Account>;
export type ChatChannel = Wire<typeof messaging.ChannelState>;
export type ChangeSet = Wire<typeof files.ChangeSet>;
export type ContextUse = Wire<typeof api.ContextUse>;
export type FileDifference = Wire<typeof files.FileDifference>;
export type FileEntry = Wire<typeof files.FileEntry>;
export type FilesRoot = Wire<typeof files.FilesRoot>;
export type FilesUsage = Wire<typeof files.FilesUsage>;
export type FileText = Wire<typeof files.FileText>;
export type KeptVersion = Wire<typeof files.KeptVersion>;
export type UndoOutcome = Wire<typeof files.UndoOutcome>;
export type Figure = Wire<typeof turns.Figure>;
export type Figures = Wire<typeof turns.Figures>;
export type Doubt = Wire<typeof turns.Doubt>;
export type Gate = Wire<typeof turns.Gate>;
export type Identity = Wire<typeof people.Identity>;
export type Integration = Wire<typeof jobs.Integration>;
export type Invitation = Wire<typeof people.InvitationInfo>;
export type Job = Wire<typeof jobs.Job>;
export type Routine = Wire<typeof jobs.Routine>;
export type RoutinePreview = Wire<typeof jobs.RoutinePreview>;
export type RoutineRun = Wire<typeof jobs.RoutineRun>;
export type MemoryFile = Wire<typeof memory.MemoryFile>;
export type MemoryVersion = Wire<typeof memory.MemoryVersion>;
export type MemoryHit = Wire<typeof memory.MemoryHit>;
export type BrowserSession = Wire<typeof people.SessionInfo>;
export type ModelOption = Wire<typeof api.ModelOption>;
export type ModelName = Wire<typeof turns.ModelName>;
export type Outcome = Wire<typeof call.ToolOutcome>;
export type OutboxEntry = Wire<typeof messaging.OutboxEntry>;
export type PairingRequest = Wire<typeof messaging.PairingRequest>;
export type PairingGate = Wire<typeof api.PairingGate>;
export type Session = Wire<typeof api.Session>;
export type SocketFrame = Wire<typeof frame.SocketFrame>;
export type Status = Wire<typeof api.Status>;
export type Task = Wire<typeof jobs.Task>;
export type ThreadRow = Wire<typeof turns.ThreadSummary>;
export type Token = Wire<typeof people.TokenInfo>;
export type Tool = Wire<typeof called.ToolInfo>;
export type ToolCall = Wire<typeof call.ToolCall>;
export type ListedTool = Wire<typeof tools.ListedTool>;
export type ServerListing = Wire<typeof tools.ServerListing>;
export type ToolFinding = Wire<typeof tools.ToolFinding>;
export type ToolLimits = Wire<typeof tools.ToolLimits>;
export type ToolProposal = Wire<typeof tools.ToolProposal>;
export type ToolReceipt = Wire<typeof tools.ToolReceipt>;
export type Setting = Wire<typeof api.ChangeableSetting>;
export type LocalServer = Wire<typeof api.LocalServer>;
export type ModelTest = Wire<typeof api.ModelTest>;
export type Setup = Wire<typeof tools.ToolSetup>;
export type Turn = Wire<typeof turns.TurnRecord>;
export type Skill = Wire<typeof api.Skill>;
export type SkillProblem = Wire<typeof api.SkillProblem>;
export type TrustedDestination = Wire<typeof api.TrustedDestination>;
export type TurnFrame = Wire<typeof frame.TurnFrame>;
export type TurnVersions = Wire<typeof api.TurnVersions>;
export type TurnStatus = Wire<typeof turn.TurnStatus>;
export type Upload = Wire<typeof api.Upload>;
export type Usage = Wire<typeof turns.Usage>;
export type UsedStorage = Wire<typeof turns.UsedStorage>;
export type User = Wire<typeof people.User>;

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

type Refusal = Pick<Refused, "message" | "problems"> & { readonly code: string; readonly param?: string };

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
    throw new Refused(0, words.state.unreachable);
  }
  const text = await response.text();
  if (!response.ok) throw refusalOf(response.status, text, response.headers.get("retry-after"));
  if (method !== "GET") changes++;
  return JSON.parse(text || "{}") as Answer;
}

interface Uploading<Answer> {
  readonly done: Promise<Answer>;
  cancel(): void;
}

/** Uses XMLHttpRequest because `fetch` does not report the progress of an upload. */
export function startUpload<Answer>(
  method: "POST" | "PUT",
  path: string,
  body: FormData | File,
  onProgress: (share: number) => void,
): Uploading<Answer> {
  const request = new XMLHttpRequest();
  const done = new Promise<Answer>((resolve, reject) => {
    request.upload.onprogress = ({ loaded, total }) => onProgress(total === 0 ? 0 : loaded / total);
    request.onload = () => {
      const { status, responseText } = request;
      if (status >= 300)
        return reject(refusalOf(status, responseText, request.getResponseHeader("retry-after")));
      changes++;
      resolve(JSON.parse(responseText) as Answer);
    };
    request.onerror = () => reject(new Refused(0, words.state.uploadInterrupted));
    request.onabort = () => reject(new Refused(0, words.state.cancelled));
  });
  request.open(method, path);
  // The type that a browser guesses from the name must not decide how the body is read.
  if (body instanceof File) request.setRequestHeader("content-type", "application/octet-stream");
  request.send(body);
  return { done, cancel: () => request.abort() };
}

function refusalOf(status: number, text: string, wait: string | null): Refused {
  try {
    const { message, code, param, problems } = (JSON.parse(text) as { error: Refusal }).error;
    return new Refused(status, message, code, problems ?? (param ? [{ param, message }] : undefined));
  } catch {
    const said = text.slice(0, 300) || `HTTP ${status}`;
    return new Refused(status, wait ? words.state.tryAgainIn(said, wait) : said);
  }
}

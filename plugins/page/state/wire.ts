/** Requests to the service, and the types of its JSON. */

import type {
  ChangeableSetting,
  Receipt,
  Routes,
  SocketFrame,
  Thread,
  ToolOutcome,
  ToolSetup,
  Turn,
} from "../api.ts";
import { text as words } from "../text/text.ts";

export type * from "../api.ts";

export type Answer = Routes["POST /api/approvals/{gate}"]["body"];
export type Decision = NonNullable<Answer["decision"]>;
export type Accepted = Routes["POST /api/chat/send"]["answer"];
export type RoutinePreview = Routes["GET /api/routines/preview"]["answer"];
export type MemoryFile = Routes["GET /api/memory/file"]["answer"];
export type MemoryVersion = Routes["GET /api/memory/file/history"]["answer"]["versions"][number];
export type MemoryHit = Routes["GET /api/memory"]["answer"]["results"][number];
export type Outcome = ToolOutcome;
export type Session = Routes["GET /api/session"]["answer"];
export type Status = Routes["GET /api/status"]["answer"];
export type ThreadRow = Thread;
export type ToolLimits = NonNullable<Routes["GET /api/tools/{name}/limits"]["answer"]["limits"]>;
export type ToolReceipt = Receipt;
export type Setting = ChangeableSetting;
export type Setup = ToolSetup;
export type TurnFrame = Exclude<SocketFrame, { readonly type: "hello" | "resync" | "alive" }>;
export type TurnStatus = Turn["status"];

/** Pinned threads first, then the newest; `next` is the start of the following page. */
export type ThreadPage = Routes["GET /api/threads"]["answer"];

/** What was deleted last comes first. */
export type BinPage = Routes["GET /api/bin"]["answer"];
export type BinnedRow = BinPage["threads"][number];

/** Oldest first; `next` leads to the page of earlier turns. */
export type TurnPage = Omit<Routes["GET /api/threads/{id}"]["answer"], "thread">;

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

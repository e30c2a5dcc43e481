/** Tapes of HTTP exchanges, for authors' tests. They sit where no credential passes, so they hold no secret. */
import { readFile, writeFile } from "node:fs/promises";
import { isRecord, tryUtf8 } from "../../kernel/kit/text.ts";
import { Fault, reason } from "../../kernel/plugin.ts";
import type { HeaderList, HttpResponse } from "./grant.ts";
import { type AllowedRequest, Refused } from "./policy.ts";

/** A recorder sends and keeps; a player answers by itself. */
export type Tape =
  | {
      readonly type: "recorder";
      record(request: AllowedRequest, send: () => Promise<HttpResponse>): Promise<HttpResponse>;
      /** Keeps the entries as they were when the call first asked. */
      keepState(entries: RememberedEntries | undefined): void;
      /** The files that the call read, by their paths. */
      keepFiles(files: ReadonlyMap<string, Uint8Array>): void;
      save(): Promise<void>;
    }
  | {
      readonly type: "player";
      /** Undefined where the recording says nothing of them. */
      readonly settings: Recording["settings"];
      readonly state: RememberedEntries;
      readonly files: ReadonlyMap<string, Uint8Array>;
      play(request: AllowedRequest): HttpResponse;
    };

type RememberedEntries = ReadonlyMap<string, Uint8Array>;

/** One exchange as it stands in the file. A body that is not UTF-8 text is kept in base64. */
export interface RecordedExchange {
  readonly request: {
    readonly method: string;
    readonly url: string;
    readonly body?: string;
    readonly body_base64?: string;
  };
  readonly reply:
    | {
        readonly status: number;
        /** The final address, if redirects were followed. */
        readonly url?: string;
        /** Absent where there were none, and in recordings made before they were kept. */
        readonly headers?: HeaderList;
        readonly body?: string;
        readonly body_base64?: string;
      }
    | { readonly error: string };
}

export type Recorder = Extract<Tape, { type: "recorder" }>;
export type Player = Extract<Tape, { type: "player" }>;

/** Records a call into `file`, complete after each exchange. `hide` sees the text last, for secrets in the params. */
export function recordTo(
  file: string,
  params: unknown,
  hide: (text: string) => string,
  settings: Readonly<Record<string, string>> = {},
): Recorder {
  const exchanges: RecordedExchange[] = [];
  const known = { params, ...(Object.keys(settings).length > 0 && { settings }) };
  let state: Recording["state"];
  let files: Recording["files"];
  const save = () =>
    writeFile(file, `${hide(JSON.stringify({ ...known, state, files, exchanges }, undefined, 2))}\n`);
  return {
    type: "recorder",
    save,
    keepState(entries = new Map()) {
      if (entries.size > 0) state = writeBodies(entries);
    },
    keepFiles(read) {
      if (read.size > 0) files = writeBodies(read);
    },
    async record(request, send) {
      const keep = async (reply: RecordedExchange["reply"]) => {
        exchanges.push({ request: write(request), reply });
        await save();
      };
      try {
        const answer = await send();
        const { status, url, headers, body } = answer;
        await keep({
          status,
          ...(url !== undefined && { url }),
          ...(headers.length > 0 && { headers }),
          ...writeBody(body),
        });
        return answer;
      } catch (error) {
        // Nobody has made sure that other errors show no secret.
        if (error instanceof Refused) await keep({ error: error.message });
        throw error;
      }
    },
  };
}

export class NotRecorded extends Refused {}

export async function replayFrom(file: string): Promise<Player> {
  return playBack(await readRecording(file), file);
}

/** Plays it back: for each request the next exchange with the same method, URL and body, at the end the last again. */
export function playBack({ exchanges, settings, state = {}, files = {} }: Recording, name: string): Player {
  const played = new Set<RecordedExchange>();
  return {
    type: "player",
    settings,
    state: readBodies(state),
    files: readBodies(files),
    play(request) {
      const wanted = JSON.stringify(write(request));
      const same = exchanges.filter((exchange) => JSON.stringify(exchange.request) === wanted);
      const found = same.find((exchange) => !played.has(exchange)) ?? same.at(-1);
      if (found === undefined)
        throw new NotRecorded(
          `The recording ${name} has no answer for ${request.method} ${request.url.href}. Record it again.`,
        );
      played.add(found);
      if ("error" in found.reply) throw new Refused(found.reply.error);
      const { status, url, headers = [] } = found.reply;
      return { status, headers, body: readBody(found.reply), ...(url !== undefined && { url }) };
    },
  };
}

export interface Recording {
  readonly params?: unknown;
  /** Values of settings that the call was made with. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The state before the call, by key. */
  readonly state?: RecordedBodies;
  /** Files that are in the workspace, by their paths. */
  readonly files?: RecordedBodies;
  readonly exchanges: readonly RecordedExchange[];
}

/** Bytes that are not UTF-8 text are kept in base64. */
interface RecordedBody {
  readonly body?: string;
  readonly body_base64?: string;
}

type RecordedBodies = Readonly<Record<string, RecordedBody>>;

export async function readRecording(file: string): Promise<Recording> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    throw noRecording(file, reason(error), error);
  }
  return parseRecording(text, file);
}

export function parseRecording(text: string, name: string): Recording {
  const wrong = (why: string, cause?: unknown) => noRecording(name, why, cause);
  let tape: {
    params?: unknown;
    settings?: unknown;
    state?: unknown;
    files?: unknown;
    exchanges?: RecordedExchange[];
  } | null;
  try {
    tape = JSON.parse(text);
  } catch (error) {
    throw wrong(reason(error), error);
  }
  if (!Array.isArray(tape?.exchanges)) throw wrong("it has no list of exchanges");
  const exchanges = tape.exchanges.map((exchange, index) => {
    const { request, reply } = exchange ?? {};
    if (typeof request?.method !== "string" || typeof request.url !== "string" || typeof reply !== "object")
      throw wrong(`exchange ${index + 1} lacks a request with method and url, or a reply`);
    // In our own order of keys, so that a file written by hand compares equal.
    const { method, url, body, body_base64 } = request;
    return {
      request: {
        method,
        url,
        ...(body !== undefined && { body }),
        ...(body_base64 !== undefined && { body_base64 }),
      },
      reply,
    };
  });
  const { params, settings, state, files } = tape;
  if (settings !== undefined && !isRecord(settings))
    throw wrong("its settings are not an object of names and values");
  if (state !== undefined && !areBodies(state))
    throw wrong('its state is not an object of keys and { "body": text }');
  if (files !== undefined && !areBodies(files))
    throw wrong('its files are not an object of paths and { "body": text }');
  const texts = Object.entries(settings ?? {}).map(([setting, value]) => [setting, String(value)]);
  return {
    params,
    ...(settings !== undefined && { settings: Object.fromEntries(texts) }),
    ...(state !== undefined && { state }),
    ...(files !== undefined && { files }),
    exchanges,
  };
}

function areBodies(bodies: unknown): bodies is RecordedBodies {
  return (
    isRecord(bodies) &&
    Object.values(bodies).every(
      (value) => isRecord(value) && typeof (value["body"] ?? value["body_base64"]) === "string",
    )
  );
}

function noRecording(name: string, why: string, cause?: unknown): Fault {
  return new Fault("invalid", "bad_recording", `${name} is no recording: ${why}. Make one with --record.`, {
    param: name,
    cause,
  });
}

function write({ method, url, body }: AllowedRequest): RecordedExchange["request"] {
  return { method, url: url.href, ...(body !== undefined && writeBody(body)) };
}

function writeBody(body: Uint8Array): { body: string } | { body_base64: string } {
  const text = tryUtf8(body, true);
  return text === undefined ? { body_base64: Buffer.from(body).toString("base64") } : { body: text };
}

function writeBodies(entries: ReadonlyMap<string, Uint8Array>): RecordedBodies {
  return Object.fromEntries([...entries].map(([key, value]) => [key, writeBody(value)]));
}

function readBodies(bodies: RecordedBodies): ReadonlyMap<string, Uint8Array> {
  return new Map(Object.entries(bodies).map(([key, value]) => [key, readBody(value)]));
}

function readBody(reply: RecordedBody): Uint8Array {
  return reply.body_base64 === undefined
    ? Buffer.from(reply.body ?? "")
    : Buffer.from(reply.body_base64, "base64");
}

/**
 * Tapes of HTTP exchanges, for authors' tests: `tool run --record file` keeps them, `--replay file` plays them
 * back. A tape sits before the credentials on the way out and after the scrub on the way in, so there is no
 * secret for it to keep, and none is needed to play it.
 */
import { readFile, writeFile } from "node:fs/promises";
import { Fault, reason } from "../../kernel/kit.ts";
import type { Answer, HeaderList } from "./grant.ts";
import { type AllowedRequest, Refused } from "./policy.ts";

/** A recorder sends and keeps; a player answers by itself. */
export type Tape =
  | {
      readonly type: "recorder";
      record(request: AllowedRequest, send: () => Promise<Answer>): Promise<Answer>;
      /** Writes what there is, also of a call that sent nothing. */
      save(): Promise<void>;
    }
  | { readonly type: "player"; play(request: AllowedRequest): Answer };

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
        /** Absent where there were none, and in recordings made before they were kept. */
        readonly headers?: HeaderList;
        readonly body?: string;
        readonly body_base64?: string;
      }
    | { readonly error: string };
}

export type Recorder = Extract<Tape, { type: "recorder" }>;
export type Player = Extract<Tape, { type: "player" }>;

/**
 * Records a call with these params into `file`, which is replaced; it is complete after each exchange.
 * `hide` sees the text last: should an author have typed a secret into the params, it is not kept either.
 */
export function recordTo(file: string, params: unknown, hide: (text: string) => string): Recorder {
  const exchanges: RecordedExchange[] = [];
  const save = () => writeFile(file, `${hide(JSON.stringify({ params, exchanges }, undefined, 2))}\n`);
  return {
    type: "recorder",
    save,
    async record(request, send) {
      const keep = async (reply: RecordedExchange["reply"]) => {
        exchanges.push({ request: write(request), reply });
        await save();
      };
      try {
        const answer = await send();
        const { status, headers, body } = answer;
        await keep({ status, ...(headers.length > 0 && { headers }), ...writeBody(body) });
        return answer;
      } catch (error) {
        // Nobody has made sure that other errors show no secret.
        if (error instanceof Refused) await keep({ error: error.message });
        throw error;
      }
    },
  };
}

/** A call asked for something that was not recorded. */
export class NotRecorded extends Refused {}

export async function replayFrom(file: string): Promise<Player> {
  return playBack(await readRecording(file), file);
}

/** Plays it back: for each request the next exchange with the same method, URL and body, at the end the last again. */
export function playBack({ exchanges }: Recording, name: string): Player {
  const played = new Set<RecordedExchange>();
  return {
    type: "player",
    play(request) {
      const wanted = JSON.stringify(write(request));
      const same = exchanges.filter((exchange) => JSON.stringify(exchange.request) === wanted);
      const found = same.find((exchange) => !played.has(exchange)) ?? same.at(-1);
      if (found === undefined) {
        throw new NotRecorded(
          `The recording ${name} has no answer for ${request.method} ${request.url.href}. Record it again.`,
        );
      }
      played.add(found);
      if ("error" in found.reply) throw new Refused(found.reply.error);
      const { status, headers = [] } = found.reply;
      return { status, headers, body: readBody(found.reply) };
    },
  };
}

/** A call that was recorded: what it was asked, where the file says so, and what it was answered. */
export interface Recording {
  readonly params?: unknown;
  readonly exchanges: readonly RecordedExchange[];
}

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
  let tape: { params?: unknown; exchanges?: RecordedExchange[] } | null;
  try {
    tape = JSON.parse(text);
  } catch (error) {
    throw wrong(reason(error), error);
  }
  if (!Array.isArray(tape?.exchanges)) throw wrong("it has no list of exchanges");
  const exchanges = tape.exchanges.map((exchange, index) => {
    const { request, reply } = exchange ?? {};
    if (typeof request?.method !== "string" || typeof request.url !== "string" || typeof reply !== "object") {
      throw wrong(`exchange ${index + 1} lacks a request with method and url, or a reply`);
    }
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
  return { params: tape.params, exchanges };
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
  try {
    return { body: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body) };
  } catch {
    return { body_base64: Buffer.from(body).toString("base64") };
  }
}

function readBody(reply: { readonly body?: string; readonly body_base64?: string }): Uint8Array {
  return reply.body_base64 === undefined
    ? Buffer.from(reply.body ?? "")
    : Buffer.from(reply.body_base64, "base64");
}

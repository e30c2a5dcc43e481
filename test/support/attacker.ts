/** One user who attacks a running service in every known way at once, over real sockets, until they are stopped. */
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { head } from "./servers/raw-socket.ts";

export interface Attacker {
  /** How often each way was answered with which status. */
  readonly seen: ReadonlyMap<string, number>;
  /** Whether each way was tried so often, and each of these answers was seen. */
  hasSeen(answers: readonly string[], times: number): boolean;
  stop(): Promise<void>;
}

const MIB = 2 ** 20;
// Within what a user may send in a minute: beyond it everything is refused at once, which is no attack.
const UNFINISHED = 8;
const UNREAD = 20;
const OPEN_MS = 5000;
const LONG_MESSAGE = "words that nobody reads ".repeat(160_000);
const lines = (factor: number) => Array.from({ length: 20_000 }, (_, at) => `word${(at * factor) % 100_003}`);
const LONG_DOCUMENT = lines(7919).join(" ").slice(0, 250_000);
const VERSIONS = [7919, 104_729].map((factor) => lines(factor).join("\n").slice(0, 250_000));
const PAUSE_MS = 100;

export function startAttacker(url: string, token: string): Attacker {
  const seen = new Map<string, number>();
  const rounds = new Map<string, number>();
  const stopping = new AbortController();
  const { hostname, port } = new URL(url);
  const bearer = `Authorization: Bearer ${token}`;
  const thread: { id?: string } = {};

  const note = (way: string, status: number | string): void => {
    const key = `${way} ${status}`;
    seen.set(key, (seen.get(key) ?? 0) + 1);
  };

  async function send(way: string, method: string, path: string, body: string | Uint8Array, headers = {}) {
    const answer = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
      ...(method !== "GET" && { body: body as BodyInit }),
      signal: stopping.signal,
    });
    const text = await answer.text();
    note(way, answer.status);
    return text;
  }

  /** Connections that are opened and left, each with these bytes; all are closed at once, and then opened again. */
  async function leaveOpen(count: number, bytes: () => string | Buffer, isRead: boolean): Promise<void> {
    const sockets: Socket[] = [];
    for (let at = 0; at < count; at++) {
      const socket = connect(Number(port), hostname);
      socket.on("error", () => {});
      socket.write(bytes());
      if (!isRead) socket.pause();
      sockets.push(socket);
    }
    await sleep(OPEN_MS, undefined, { signal: stopping.signal }).catch(() => {});
    for (const socket of sockets) socket.destroy();
  }

  const ways: Readonly<Record<string, () => Promise<unknown>>> = {
    "unfinished body": () =>
      leaveOpen(
        UNFINISHED,
        () =>
          head(
            "POST /api/chat/send HTTP/1.1",
            "Host: localhost",
            "Content-Type: application/json",
            bearer,
            `Content-Length: ${14 * MIB}`,
          ) + "x".repeat(64 * 1024),
        true,
      ),
    "gzip body": () =>
      send("gzip body", "POST", "/api/chat/send", gzipSync(Buffer.alloc(8 * MIB, " ")), {
        "content-encoding": "gzip",
      }),
    "nested body": () => send("nested body", "POST", "/openai/v1/responses", "[".repeat(MIB / 4)),
    "nested tools": () => {
      const tools = `[{"type":"function","name":"f","parameters":${'{"a":'.repeat(8000)}1${"}".repeat(8000)}}]`;
      return send(
        "nested tools",
        "POST",
        "/openai/v1/responses",
        `{"model":"m","input":"hi","tools":${tools}}`,
      );
    },
    message: async () => {
      const body = JSON.stringify({ message: LONG_MESSAGE, ...(thread.id && { thread_id: thread.id }) });
      const text = await send("message", "POST", "/api/chat", body);
      thread.id ??= (JSON.parse(text) as { readonly thread_id?: string }).thread_id;
    },
    "unread answer": () =>
      leaveOpen(
        UNREAD,
        () => head(`GET /api/threads/${thread.id ?? "none"} HTTP/1.1`, "Host: localhost", bearer),
        false,
      ),
    memory: () =>
      send(
        "memory",
        "PUT",
        `/api/memory/file?path=attack-${(rounds.get("memory") ?? 0) % 50}.md`,
        JSON.stringify({ text: `${rounds.get("memory")} ${LONG_DOCUMENT}` }),
      ),
    differences: () => {
      const version = VERSIONS[rounds.get("differences") ?? 0];
      if (version === undefined)
        return send("differences", "GET", "/api/workspace/diff?path=/attack.txt&from=1&to=2", "");
      const headers = { "content-type": "application/octet-stream" };
      return send("upload", "PUT", "/api/workspace/file?path=/attack.txt", version, headers);
    },
    conversation: () =>
      send(
        "conversation",
        "POST",
        "/openai/v1/conversations",
        JSON.stringify({ items: [{ type: "message", role: "user", content: LONG_MESSAGE }] }),
      ),
    "token count": () =>
      send(
        "token count",
        "POST",
        "/openai/v1/responses/input_tokens",
        JSON.stringify({ input: LONG_MESSAGE }),
      ),
  };

  const running = Object.entries(ways).map(async ([way, act]) => {
    while (!stopping.signal.aborted) {
      try {
        await act();
      } catch (error) {
        if (!stopping.signal.aborted) note(way, (error as Error).name);
      }
      rounds.set(way, (rounds.get(way) ?? 0) + 1);
      await sleep(PAUSE_MS, undefined, { signal: stopping.signal }).catch(() => {});
    }
  });

  return {
    seen,
    hasSeen: (answers, times) =>
      answers.every((answer) => seen.has(answer)) &&
      Object.keys(ways).every((way) => (rounds.get(way) ?? 0) >= times),
    async stop() {
      stopping.abort();
      await Promise.all(running);
    },
  };
}

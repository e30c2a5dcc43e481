/** Server-sent events on a Node response: headers at once, one write per frame, no faster than the reader reads. */
import type { ServerResponse } from "node:http";
import type { StreamEvent } from "./wire.ts";

const KEEPALIVE_MILLIS = 15_000;
// A comment, because clients choke on event types they do not know.
const KEEPALIVE = ": keepalive\n\n";

export interface EventStream {
  /** Resolves when there is room for more; false once the reader has gone. */
  send(event: StreamEvent): Promise<boolean>;
  end(): void;
}

export function openEventStream(response: ServerResponse): EventStream {
  let sequence = 0;
  response.writeHead(200, {
    "content-type": "text/event-stream; charset=utf-8",
    // no-transform keeps proxies from compressing, X-Accel-Buffering from collecting what must flow.
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
  });
  response.flushHeaders();

  const keepalive = setInterval(() => {
    if (!response.writableNeedDrain) response.write(KEEPALIVE);
  }, KEEPALIVE_MILLIS);
  response.once("close", () => clearInterval(keepalive));

  return {
    async send(event) {
      if (response.destroyed) return false;
      const data = JSON.stringify({ ...event, sequence_number: sequence++ });
      if (!response.write(`event: ${event.type}\ndata: ${data}\n\n`)) await drained(response);
      return !response.destroyed;
    },
    end() {
      clearInterval(keepalive);
      response.end();
    },
  };
}

function drained(response: ServerResponse): Promise<void> {
  if (response.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      response.off("drain", done).off("close", done);
      resolve();
    };
    response.on("drain", done).on("close", done);
  });
}

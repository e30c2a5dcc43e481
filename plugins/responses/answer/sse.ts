/** Server-sent events on a Node response: headers at once, one write per frame, no faster than the reader reads. */
import type { ServerResponse } from "node:http";
import { visibleLine } from "../../../kernel/kit/text.ts";

const KEEPALIVE_MS = 15_000;

export function openEventStream(response: ServerResponse) {
  response.writeHead(200, {
    "content-type": "text/event-stream; charset=utf-8",
    // no-transform keeps proxies from compressing, X-Accel-Buffering from collecting what must flow.
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
  });
  response.flushHeaders();

  /** For whoever reads the stream itself: clients skip comments, and fail on event types that they do not know. */
  const comment = (text: string): void => {
    if (!response.writableNeedDrain) response.write(`: ${visibleLine(text)}\n\n`);
  };
  const keepalive = setInterval(() => comment("keepalive"), KEEPALIVE_MS);
  response.once("close", () => clearInterval(keepalive));

  return {
    comment,
    /** `data` must be one line. Resolves when there is room for more; with false once the reader has gone. */
    async send(data: string, event?: string): Promise<boolean> {
      if (response.destroyed) return false;
      const name = event === undefined ? "" : `event: ${event}\n`;
      if (!response.write(`${name}data: ${data}\n\n`)) await drained(response);
      return !response.destroyed;
    },
    end(): void {
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

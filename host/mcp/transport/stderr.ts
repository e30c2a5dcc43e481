/** What a command writes to stderr, line by line in our log: no line too long, not too many a minute. */
import type { Readable } from "node:stream";
import type { Log } from "../../../kernel/plugin.ts";

const LONGEST_LINE = 1000;
const LINES_A_MINUTE = 120;

export function logLines(stream: Readable, server: string, log: Log): void {
  let line = "";
  let written = 0;
  let dropped = 0;
  let minute = 0;

  const tell = (text: string) => {
    const now = Math.floor(performance.now() / 60_000);
    if (now !== minute) {
      if (dropped > 0) log.warn({ server }, `${server}: ${dropped} more lines were left out`);
      minute = now;
      written = 0;
      dropped = 0;
    }
    if (text.trim() === "") return;
    if (written < LINES_A_MINUTE) log.info({ server }, `${server}: ${text}`);
    else dropped++;
    written++;
  };

  stream.setEncoding("utf8");
  stream.on("error", () => {});
  stream.on("data", (chunk: string) => {
    for (const [at, part] of chunk.split("\n").entries()) {
      if (at > 0) {
        tell(line);
        line = "";
      }
      // What is over the limit is dropped, not kept for later.
      if (line.length < LONGEST_LINE) line += part.slice(0, LONGEST_LINE - line.length);
    }
  });
  stream.on("end", () => tell(line));
}

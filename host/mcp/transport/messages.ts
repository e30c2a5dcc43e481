/** The messages in what a command writes to stdout, which may be anything: bounded in length, and in how much of it is no message. */
import { deserializeMessage, type JSONRPCMessage } from "@modelcontextprotocol/client";

/** The command is not worth reading any further; the message is the rest of a sentence that begins with "it". */
class UnreadableOutput extends Error {}

/** Some servers print a banner. More lines than this in a row that are no messages are a mistake, or meant to keep us busy. */
const MOST_STRAY_LINES = 1000;
const LF = 10;
const OPENING = "{".charCodeAt(0);

export interface MessageReader {
  /** Throws `UnreadableOutput`. */
  read(chunk: Buffer): JSONRPCMessage[];
}

export function createMessageReader(maxBytes: number): MessageReader {
  let parts: Buffer[] = [];
  let size = 0;
  let strays = 0;

  const finish = (last: Buffer): JSONRPCMessage | undefined => {
    const line = parts.length === 0 ? last : Buffer.concat([...parts, last]);
    parts = [];
    size = 0;
    const message = line[0] === OPENING ? parse(line.toString("utf8")) : undefined;
    strays = message === undefined ? strays + 1 : 0;
    if (strays > MOST_STRAY_LINES)
      throw new UnreadableOutput(
        `wrote ${MOST_STRAY_LINES} lines to stdout that are no messages of the protocol`,
      );
    return message;
  };

  return {
    read(chunk) {
      const found: JSONRPCMessage[] = [];
      let rest = chunk;
      for (let at = rest.indexOf(LF); at >= 0; at = rest.indexOf(LF)) {
        const message = finish(rest.subarray(0, at));
        if (message !== undefined) found.push(message);
        rest = rest.subarray(at + 1);
      }
      size += rest.length;
      if (size > maxBytes) throw new UnreadableOutput(`sent a message of more than ${maxBytes} bytes`);
      if (rest.length > 0) parts.push(rest);
      return found;
    },
  };
}

function parse(line: string): JSONRPCMessage | undefined {
  try {
    return deserializeMessage(line);
  } catch {
    return undefined;
  }
}

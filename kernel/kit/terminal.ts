/** Output and input of commands: tables, lines, JSON, secrets typed without echo, short ids. */

export { agree, confirms } from "../terminal/agreement.ts";
export {
  openStatusLine,
  say,
  sayJson,
  sayPainted,
  sayText,
  typedCommand,
  waitFor,
  warn,
  whileAsking,
} from "../terminal/output.ts";
export { hostIsGone, takeOutput } from "../terminal/protocol-pipe.ts";
export { isInteractive, readSecret } from "../terminal/secret-input.ts";
export { createShortener, findByPrefix, shortId } from "../terminal/short-id.ts";
export { type Colour, fields, type TableOptions, table } from "../terminal/table.ts";
export { type JsonOption, print, verb, wholeNumber } from "../terminal/verb.ts";
export { relativeTime } from "../text/time-words.ts";

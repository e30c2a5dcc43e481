/** Text of strangers made visible, JSON, long texts, and Markdown cut into messages. */

export { isRecord, tryJson, tryRecord } from "../text/json.ts";
export { digestText, giveWay, isLong, LONG_LENGTH } from "../text/long.ts";
export { cutMarkdown } from "../text/markdown-pieces.ts";
export { visible, visibleJson, visibleLine, withoutHidden } from "../text/visible.ts";

/** Text of strangers made visible and compared, JSON, and Markdown cut into messages; a browser can load it too. */

export { diffLines } from "../text/differences.ts";
export { escapeHtml } from "../text/html.ts";
export { isRecord, tryJson, tryRecord, tryUtf8 } from "../text/json.ts";
export { filePathOf, showsOtherAddress } from "../text/link-address.ts";
export { cutMarkdown, type Piece } from "../text/markdown-pieces.ts";
export { visible, visibleJson, visibleLine, withoutHidden } from "../text/visible.ts";

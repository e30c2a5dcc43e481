/** What a person wrote in a message, without the blocks that stand before it. */

// What came from outside may have a line of caution ahead of it.
const BLOCK = /^\s*(?:Caution: [^\n]*\n)?<(instructions|user-context|summary|tool-output)(?:\s[^>]*)?>/;

/** Of a message as the model reads it: no words of a person can look like such a block. */
export function ownWords(message: string): string {
  let text = message;
  for (;;) {
    const [, name = ""] = BLOCK.exec(text) ?? [];
    const end = name === "" ? -1 : text.indexOf(`</${name}>`);
    if (end < 0) return text.replaceAll(/<\/?outside>/g, "").trim();
    text = text.slice(end + name.length + 3);
  }
}

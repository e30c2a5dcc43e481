/** Strips a message, as the model reads it, down to the words that the person wrote. */

// A line of caution may stand ahead of what came from outside.
const BLOCK = /^\s*(?:Caution: [^\n]*\n)?<(instructions|user-context|summary|tool-output)(?:\s[^>]*)?>/;

/** The message without the blocks before it. Tags in a person's words are escaped, so they never look like such a block. */
export function ownWords(message: string): string {
  let text = message;
  for (;;) {
    const [, name = ""] = BLOCK.exec(text) ?? [];
    const end = name === "" ? -1 : text.indexOf(`</${name}>`);
    if (end < 0) return text.replaceAll(/<\/?outside>/g, "").trim();
    text = text.slice(end + name.length + 3);
  }
}

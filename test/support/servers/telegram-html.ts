/** Telegram's HTML, read as strictly as Telegram does: its few tags, each closed in its order, and four named entities. */

const TAGS = new Set(
  "b strong i em u ins s strike del span tg-spoiler a tg-emoji code pre blockquote".split(" "),
);
const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"' };

/** Returns the text as people read it, or what is wrong. */
export function parseTelegramHtml(html: string): string | { readonly problem: string } {
  const open: string[] = [];
  let text = "";
  let at = 0;
  while (at < html.length) {
    const char = html[at] as string;
    if (char === "&") {
      const [whole, name = ""] = /^&(#x?[\da-f]+|\w+);/i.exec(html.slice(at)) ?? [];
      if (whole === undefined) text += char;
      else if (name.startsWith("#"))
        text += String.fromCodePoint(Number(name.replace(/^#x/i, "0x").replace("#", "")));
      else text += ENTITIES[name] ?? whole;
      at += whole?.length ?? 1;
    } else if (char === "<") {
      const tag = /^<(\/?)([a-z][a-z-]*)((?:\s+[a-z-]+(?:="[^"<>]*")?)*)\s*>/.exec(html.slice(at));
      if (!tag) return { problem: `unsupported start tag at byte offset ${at}` };
      const [whole, slash, name = ""] = tag;
      if (!TAGS.has(name)) return { problem: `unsupported start tag "${name}" at byte offset ${at}` };
      if (slash === "") open.push(name);
      else if (open.pop() !== name)
        return { problem: `unmatched end tag at byte offset ${at}, found "</${name}>"` };
      at += whole.length;
    } else {
      text += char;
      at += 1;
    }
  }
  return open.length === 0
    ? text
    : { problem: `can't find end tag corresponding to start tag "${open.at(-1)}"` };
}

/** A notification of PostgreSQL holds fewer than 8000 bytes: a longer signal is sent in parts. */

const PART_BYTES = 7900;
const HEAD_BYTES = 64;

/**
 * Each part begins with who sent it, the number of the signal, and which part of how many it is. Without the number, two
 * equal signals in one transaction would be one.
 */
export function split(payload: string, sender: string, number: number): readonly string[] {
  // PostgreSQL's texts hold no NUL and no half of a pair.
  const bytes = Buffer.from(payload.replaceAll("\0", "\uFFFD").toWellFormed());
  const cuts = [0];
  while ((cuts.at(-1) as number) < bytes.length) {
    let cut = Math.min((cuts.at(-1) as number) + PART_BYTES - HEAD_BYTES, bytes.length);
    // Not within a character.
    while (cut < bytes.length && ((bytes[cut] as number) & 0xc0) === 0x80) cut--;
    cuts.push(cut);
  }
  const parts = Math.max(1, cuts.length - 1);
  return Array.from({ length: parts }, (_, index) => {
    const text = bytes.toString("utf8", cuts[index], cuts[index + 1] ?? bytes.length);
    return `${sender} ${number} ${index + 1}/${parts} ${text}`;
  });
}

const PART = /^(\w+) (\d+) (\d+)\/(\d+) ([\s\S]*)$/;

/** Puts parts together again. They come in order, those of one signal together. */
export function createAssembly() {
  const incomplete = new Map<string, string>();
  return {
    take(channel: string, text: string): { readonly sender: string; readonly payload: string } | undefined {
      const [, sender, number, part, parts, content] = PART.exec(text) ?? [];
      // Somebody else's use of the channel.
      if (sender === undefined || content === undefined) return undefined;
      const key = `${channel} ${sender} ${number}`;
      const before = part === "1" ? "" : incomplete.get(key);
      if (before === undefined) return undefined;
      if (part !== parts) {
        incomplete.set(key, before + content);
        return undefined;
      }
      incomplete.delete(key);
      return { sender, payload: before + content };
    },
    /** After a gap: what was incomplete stays so. */
    clear: () => incomplete.clear(),
  };
}

/** Known secret values and how to hide them. The values stay in this closure. */
import type { Mask } from "./vocabulary/kernel.ts";

// Shorter values would blank out ordinary words, and are no secret.
const SHORTEST = 6;

export function createMask(): Mask {
  const secrets = new Set<string>();
  let pattern: RegExp | undefined;
  const matcher = (): RegExp | undefined => {
    if (pattern === undefined && secrets.size > 0) {
      // Longest first, so that a secret which contains another is hidden whole.
      const longestFirst = [...secrets].sort((a, b) => b.length - a.length);
      pattern = new RegExp(longestFirst.map((secret) => RegExp.escape(secret)).join("|"), "g");
    }
    return pattern;
  };
  return {
    add(secret) {
      if (secret.length < SHORTEST) return;
      // The forms in which a value travels: as it is, in a URL, in JSON, in base64.
      const forms = [
        secret,
        encodeURIComponent(secret),
        JSON.stringify(secret).slice(1, -1),
        Buffer.from(secret).toString("base64"),
      ];
      for (const form of forms) secrets.add(form);
      pattern = undefined;
    },
    hide: (text) => {
      const known = matcher();
      return known === undefined ? text : text.replace(known, "[secret]");
    },
    finds: (text) => {
      const known = matcher();
      return known !== undefined && text.search(known) >= 0;
    },
    tail: (text) => {
      let longest = 0;
      for (const secret of secrets) {
        for (let length = Math.min(secret.length - 1, text.length); length > longest; length--) {
          if (text.endsWith(secret.slice(0, length))) longest = length;
        }
      }
      return longest;
    },
    get size() {
      return secrets.size;
    },
  };
}

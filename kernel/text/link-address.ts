/** What a link opens: another address than its words show, or a file. */
import { withoutHidden } from "./visible.ts";

// A URL, a host or a mail address, however its dots are written.
const ADDRESSES =
  /(?:https?:\/\/[^\s/]+|(?<![\p{L}\p{N}@_+.-])[\p{L}\p{N}][\p{L}\p{N}@_+.-]*\.\p{L}[\p{L}\p{N}-]+)(?::\d+)?(?:[/?#]\S*)?/giu;
const DOTS = /[\u3002\u2024]/g;

/** True if one of the addresses in a link's words is not the beginning of the one that it opens. */
export function showsOtherAddress(words: string, href: string): boolean {
  const target = URL.parse(href);
  if (target === null) return false;
  const text = withoutHidden(words)
    .replaceAll(/[\u200c\u200d]/g, "")
    .normalize("NFKC")
    .replaceAll(DOTS, ".");
  return (text.match(ADDRESSES) ?? []).some((shown) => !isBeginningOf(shown, target));
}

function isBeginningOf(shown: string, { protocol, host, pathname, search, hash }: URL): boolean {
  if (protocol === "mailto:") return shown.toLowerCase() === decodeURIComponent(pathname).toLowerCase();
  const url = URL.parse(/^https?:/i.test(shown) ? shown : `https://${shown}`);
  if (url === null || url.username !== "" || url.host !== host) return false;
  const path = url.pathname + url.search + url.hash;
  return path === "/" || `${pathname}${search}${hash}`.startsWith(path);
}

/** The path of the file that a link names; undefined if it leads elsewhere. A model knows no paths but those of its user's files. */
export function filePathOf(href: string): string | undefined {
  if (!/^\/[^/]/.test(href)) return undefined;
  try {
    return decodeURIComponent(href);
  } catch {
    return href;
  }
}

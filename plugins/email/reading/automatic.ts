/** Mail that no person wrote to us, which is never answered (RFC 3834): two programs could go on forever. */
import { type HeaderLine, idsIn, valuesOf } from "./header.ts";

const ROBOTS =
  /^(?:mailer-daemon|postmaster|no-?_?reply|do-?_?not-?_?reply|bounces?|owner-[^@]*|[^@]*-(?:request|bounces?))(?:[+-][^@]*)?@/;
const AUTORESPONDERS = ["x-autoreply", "x-autorespond", "x-autoresponder", "x-auto-reply", "x-loop"];

/** Returns what kind of automatic mail it is, and undefined for a person's. */
export function whyAutomatic(
  lines: readonly HeaderLine[],
  sender: string | undefined,
  own: { readonly address: string; isOwnId(id: string): boolean },
): string | undefined {
  const first = (key: string) => valuesOf(lines, key)[0]?.toLowerCase();
  if (sender === own.address || valuesOf(lines, "message-id").flatMap(idsIn).some(own.isOwnId))
    return "our own mail";
  const isReport = first("content-type")?.startsWith("multipart/report") === true;
  if (isReport || first("return-path") === "<>") return "a bounce";
  const submitted = first("auto-submitted");
  if (submitted !== undefined && !/^no\b/.test(submitted)) return "an automatic reply";
  if (AUTORESPONDERS.some((key) => first(key) !== undefined)) return "an automatic reply";
  if (/\b(?:all|oof|autoreply)\b/.test(first("x-auto-response-suppress") ?? "")) return "an automatic mail";
  if (
    lines.some(({ key }) => key.startsWith("list-")) ||
    /^(?:bulk|junk|list)\b/.test(first("precedence") ?? "")
  )
    return "a mail of a list";
  if (sender !== undefined && ROBOTS.test(sender)) return "a mail of a program";
  return undefined;
}

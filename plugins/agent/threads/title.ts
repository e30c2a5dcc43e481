/** A thread's title: the beginning of its first message, until someone gives it a better one. */
import type { Turn } from "../services.ts";

const MAX_LENGTH = 80;
// More than that is not looked at: a message may have megabytes.
const LOOKED_AT = 8192;

export function titleOf(turn: Turn): string {
  const first = turn.preamble?.history?.find((item) => item.type === "message" && item.role === "user");
  const text = first?.type === "message" ? first.text : turn.input.type === "message" ? turn.input.text : "";
  return clipTitle(text) || clipTitle(fileOf(turn)) || "New thread";
}

/** A file that came without a word is what it is about. */
function fileOf({ input }: Turn): string {
  return (input.type === "message" && input.attachments?.[0]?.name) || "";
}

export function clipTitle(text: string): string {
  const line = text
    .trimStart()
    .slice(0, LOOKED_AT)
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
  if (line.length <= MAX_LENGTH) return line;
  const cut = line.slice(0, MAX_LENGTH);
  const space = cut.lastIndexOf(" ");
  return `${(space > MAX_LENGTH / 2 ? cut.slice(0, space) : cut).toWellFormed()}…`;
}

/** Bytes that stand in a request itself, read strictly: what is not quite right is refused, not guessed. */
import { invalid } from "../wire/refusal.ts";

export interface GivenBytes {
  /** Lower case, without parameters; empty where none was given. */
  readonly mime: string;
  readonly data: Uint8Array;
}

const HEAD = /^data:([\w.+-]{1,64}\/[\w.+-]{1,64})?((?:;[\w.-]{1,64}=[^;,\s]{0,128}){0,8});base64,/i;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

export const isDataUrl = (text: string): boolean => /^data:/i.test(text);

export function parseDataUrl(text: string, at: string): GivenBytes {
  // Only the beginning: the rest may be megabytes.
  const [head, mime = ""] = HEAD.exec(text.slice(0, 2048)) ?? [];
  if (head === undefined)
    throw invalid(at, "invalid_data_url", `"${at}" must be a data URL with a type and base64 data.`);
  return { mime: mime.toLowerCase(), data: parseBase64(text.slice(head.length), at) };
}

export function parseBase64(text: string, at: string): Uint8Array {
  if (text.length % 4 !== 0 || !BASE64.test(text))
    throw invalid(at, "invalid_base64", `"${at}" must hold base64 data.`);
  return Buffer.from(text, "base64");
}

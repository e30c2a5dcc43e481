/** Work on megabytes: everybody's turns share one thread, so others have theirs in between. */
import { hash, webcrypto } from "node:crypto";
import { setImmediate } from "node:timers/promises";

/** A text that is longer takes milliseconds to work through, so that is done piece by piece. */
export const LONG_LENGTH = 2 ** 18;

export const isLong = ({ length }: { readonly length: number }): boolean => length > LONG_LENGTH;

/** Lets others have their turn after work on a text of this length. */
export async function giveWay(length: number): Promise<void> {
  if (isLong({ length })) await setImmediate();
}

/** The SHA-256 of a text; that of a long one is made by another thread. */
export async function digestText(text: string): Promise<string> {
  if (!isLong(text)) return hash("sha256", text, "base64url");
  const digest = await webcrypto.subtle.digest("SHA-256", Buffer.from(text));
  return Buffer.from(digest).toString("base64url");
}

/** A secret from a hidden prompt, or from standard input: never from the arguments, which others on the machine can read. */
import { text } from "node:stream/consumers";
import { Fault } from "../fault.ts";
import { visible } from "../text/visible.ts";

/** True where a person can be asked. Questions go to stderr: stdout belongs to the result. */
export function isInteractive(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

export async function readSecret(name: string): Promise<string> {
  const given = isInteractive() ? await askSecret(name) : (await text(process.stdin)).trim();
  if (given === "")
    throw new Fault("invalid", "empty_secret", `No value for ${name} was given.`, { usage: true });
  return given;
}

async function askSecret(name: string): Promise<string> {
  const { isCancel, password } = await import("@clack/prompts");
  const answer = await password({ message: visible(name), output: process.stderr });
  if (isCancel(answer)) throw new Fault("invalid", "cancelled", "Cancelled; nothing changed.");
  return (answer ?? "").trim();
}

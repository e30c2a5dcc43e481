/** Whether what a source answered with may be looked at any further, by who signed it. */

import type { ToolOrigin } from "../../kernel/kit.ts";
import { Fault } from "../../kernel/plugin.ts";
import type { JudgeSignature } from "../trust/judge.ts";
import type { Fetched } from "./source.ts";

export interface AdmissionOptions {
  readonly allowUnsigned?: boolean;
  /** Asks a person about what nobody they trust has signed; true where they agree. Without it nobody can be asked. */
  readonly ask?: (sentence: string) => Promise<boolean>;
}

export interface Admitted {
  readonly origin: ToolOrigin;
  /** Who signed it, for people; absent for what is on this machine's disk. */
  readonly signature?: string;
}

/** The origin with its verified signer. Tools from this machine's disk are not asked about. */
export async function admit(
  judge: JudgeSignature,
  { origin, evidence, listedSigner }: Pick<Fetched, "origin" | "evidence" | "listedSigner">,
  { allowUnsigned = false, ask }: AdmissionOptions,
): Promise<Admitted> {
  if (origin.kind === "file" || origin.kind === "folder") return { origin };
  const { status, sentence, signer } = await judge(origin, evidence);
  if (status === "refused") throw refusal(`${sentence}. No option overrides a trust rule.`);
  if (signer !== undefined && listedSigner !== undefined && signer !== listedSigner)
    throw refusal(`${sentence}, but the index that lists it says ${listedSigner}. Nothing was installed.`);
  const isAdmitted = status === "signed" || allowUnsigned || (await ask?.(sentence)) === true;
  if (!isAdmitted) {
    const what = ask === undefined ? "Pass --allow-unsigned to install it anyway." : "Nothing was installed.";
    throw refusal(`${sentence} (${origin.reference}). ${what}`);
  }
  return { origin: { ...origin, ...(signer !== undefined && { signer }) }, signature: sentence };
}

function refusal(sentence: string): Fault {
  return new Fault("invalid", "tool_unsigned", sentence, { param: "allow_unsigned" });
}

/** Whether a tool that is not installed yet answers the calls that its author recorded. */
import { type JsonSchema, reason } from "../../kernel/plugin.ts";
import { parseRecording, type Recording } from "../broker/recording.ts";
import type { Candidate } from "../catalog/catalog.ts";
import type { CodeCache } from "../catalog/code-cache.ts";
import { createComponent } from "../compile/transpile.ts";
import { type ReplayParts, replayCall } from "./replay.ts";

export interface Answered {
  readonly recording: string;
  readonly ok: boolean;
  /** Why not. */
  readonly detail?: string;
}

export type ReplayCandidate = (
  candidate: Candidate,
  recordings: readonly { readonly name: string; readonly text: string }[],
) => Promise<readonly Answered[]>;

export function createReplay({
  pool,
  code,
  privateHosts,
}: Pick<ReplayParts, "pool" | "privateHosts"> & { readonly code: CodeCache }): ReplayCandidate {
  return async ({ component: bytes, digest, capabilities, schema }, recordings) => {
    const { memoryMb } = capabilities.limits;
    const component = createComponent({
      sha256: digest,
      read: async () => bytes,
      cache: code.folder,
      memoryMb,
    });
    try {
      return await answerRecordings({ pool, component, capabilities, privateHosts }, schema, recordings);
    } finally {
      pool.forget(component);
    }
  };
}

async function answerRecordings(
  parts: ReplayParts,
  schema: JsonSchema,
  files: readonly { readonly name: string; readonly text: string }[],
): Promise<readonly Answered[]> {
  const answers: Answered[] = [];
  for (const { name, text } of files) {
    const detail = await findProblem(parts, schema, name, text);
    answers.push({ recording: name, ok: detail === undefined, ...(detail !== undefined && { detail }) });
  }
  return answers;
}

async function findProblem(
  parts: ReplayParts,
  schema: JsonSchema,
  name: string,
  text: string,
): Promise<string | undefined> {
  let recording: Recording;
  try {
    recording = parseRecording(text, name);
  } catch (error) {
    return reason(error);
  }
  if (recording.params === undefined) return "it says no params, so it cannot be played";
  const params = JSON.stringify(recording.params);
  const mistake = await parts.pool.check(parts.component, JSON.stringify(schema), params);
  if (mistake !== undefined) return `its params do not match the schema: ${mistake}`;
  const { outcome, refused, unanswered } = await replayCall(parts, recording, name);
  if (outcome.ok) return undefined;
  const [missing] = [...refused, ...unanswered];
  if (missing !== undefined) return missing;
  // An error of the tool's own may be what was recorded.
  return outcome.code === "tool_error" ? undefined : outcome.message;
}

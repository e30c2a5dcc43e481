/** Turns what a component returned, or how it failed, into an outcome in words. */
import { reason } from "../../../kernel/fault.ts";
import type { JsonSchema } from "../../../kernel/schema/declare.ts";
import type { FailureCode, Outcome } from "../protocol.ts";
import { compileParamsCheck } from "./params.ts";
import { ToolExit } from "./wasi/wasi.ts";

const MAX_OUTPUT_BYTES = 1 << 20;
const MAX_MISTAKES = 10;

export function judgeOutput({ output, error }: { output?: string; error?: string }): Outcome {
  if (output !== undefined && error !== undefined) return bad("it set both output and error");
  if (error !== undefined)
    return { ok: false, code: "tool_error", message: error.slice(0, MAX_OUTPUT_BYTES) };
  if (output === undefined) return bad("it set neither output nor error");
  if (Buffer.byteLength(output) > MAX_OUTPUT_BYTES) return bad("its output is over 1 MiB");
  try {
    JSON.parse(output);
  } catch {
    return bad("its output is not JSON");
  }
  return { ok: true, output };
}

export function judgeDescription(description: string, schema: string): Outcome {
  if (Buffer.byteLength(description) + Buffer.byteLength(schema) > MAX_OUTPUT_BYTES)
    return bad("its description and schema are over 1 MiB");
  const problem = problemOf(schema);
  return { ok: true, description, schema, ...(problem !== undefined && { problem }) };
}

/** The first mistakes in words, as a JSON list. */
export function describeAll(mistakes: readonly string[]): string {
  return JSON.stringify([...new Set(mistakes)].slice(0, MAX_MISTAKES).map((text) => text.slice(0, 300)));
}

/** Why params cannot be checked against this schema. What is not even a JSON object is for the reader to refuse. */
function problemOf(text: string): string | undefined {
  let schema: unknown;
  try {
    schema = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return undefined;
  try {
    compileParamsCheck(schema as JsonSchema);
    return undefined;
  } catch (error) {
    return reason(error);
  }
}

function bad(what: string): Outcome {
  return { ok: false, code: "bad_response", message: `The tool's answer was refused: ${what}.` };
}

/** Memory this close to its limit is what made the engine give up. */
const FULL = 0.85;

export function explainFailure(
  error: unknown,
  lastWords: string,
  memoryPeakBytes: number,
  memoryBytes: number,
): Outcome {
  const words = lastWords.trim();
  const said = words === "" ? (error instanceof Error ? error.message : "no reason given") : words;
  const failed = (code: FailureCode, message: string): Outcome => ({ ok: false, code, message });
  if (memoryPeakBytes > memoryBytes * FULL || /out of memory|allocation size overflow/i.test(said))
    return failed("out_of_memory", `The tool ran out of its ${memoryBytes / 2 ** 20} MiB of memory.`);
  if (error instanceof ToolExit) return failed("threw", "The tool ended itself instead of answering.");
  if (words !== "" || error instanceof WebAssembly.Exception)
    return failed("threw", `The tool threw: ${said}`);
  return failed("trap", `The tool stopped with a trap: ${said}`);
}

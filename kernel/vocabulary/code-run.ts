/** A run of code as channels show it: what the model wrote, and what came of it. A component wrote the output, so nothing in it is taken for granted. */
import { isRecord, tryJson, tryRecord } from "../text/json.ts";

const RUN_CODE = "run-code";

export interface CodeRun {
  readonly code: string;
  /** Absent until it has ended well. */
  readonly result?: CodeResult | undefined;
}

export interface CodeResult {
  /** As JSON; empty where the code returned nothing. */
  readonly value: string;
  readonly printed: string;
  readonly files: readonly { readonly path: string; readonly bytes: number }[];
  readonly charts: readonly { readonly path: string; readonly title: string }[];
  /** How many calls of other tools it made; the receipt lists them. */
  readonly calls: number;
}

/** Undefined for a call that is not a run of code, or whose params cannot be read. */
export function readCodeRun(
  call: { readonly name: string; readonly params: string },
  output?: string,
): CodeRun | undefined {
  const code = call.name === RUN_CODE ? tryRecord(call.params)["code"] : undefined;
  if (typeof code !== "string") return undefined;
  const made = output === undefined ? undefined : tryJson(output);
  return { code, result: isRecord(made) ? resultOf(made) : undefined };
}

function resultOf({ value, printed, files, charts, calls }: Readonly<Record<string, unknown>>): CodeResult {
  const isEmpty = value === undefined || value === null;
  return {
    value: isEmpty ? "" : JSON.stringify(value, null, 2),
    printed: textOf(printed),
    files: rows(files).flatMap(({ path, bytes }) =>
      typeof path === "string" ? [{ path, bytes: Number(bytes) || 0 }] : [],
    ),
    charts: rows(charts).flatMap(({ path, title }) =>
      typeof path === "string" ? [{ path, title: textOf(title) }] : [],
    ),
    calls: Number(calls) || 0,
  };
}

const rows = (value: unknown): readonly Readonly<Record<string, unknown>>[] =>
  Array.isArray(value) ? value.filter(isRecord) : [];

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  return Array.isArray(value) ? value.filter((line) => typeof line === "string").join("\n") : "";
}

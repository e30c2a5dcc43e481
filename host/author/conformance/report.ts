/** The findings of `tool check`, as data and in words. */

import { table } from "../../../kernel/kit/terminal.ts";
import type { JsonSchema } from "../../../kernel/plugin.ts";

/** `fail`: it would not be installed, or its calls break. `warn`: worth fixing. `note`: worth knowing. */
export type Verdict = "ok" | "note" | "warn" | "fail";

export interface Finding {
  readonly subject: string;
  readonly verdict: Verdict;
  readonly detail: string;
}

export interface Report {
  readonly ok: boolean;
  readonly digest: string;
  readonly bytes: number;
  readonly findings: readonly Finding[];
  /** Absent where the component did not get far enough to say. */
  readonly description?: string;
  readonly schema?: JsonSchema;
  readonly grants?: readonly string[];
}

export function renderReport(file: string, { ok, findings, description }: Report): string {
  const count = (verdict: Verdict) => findings.filter((finding) => finding.verdict === verdict).length;
  const [failures, warnings] = [count("fail"), count("warn")];
  const verdict = ok
    ? `${file} can be installed${warnings === 0 ? "" : `; ${plural(warnings, "warning")}`}.`
    : `${file} is not ready: ${plural(failures, "problem")} must be fixed.`;
  const rows = findings.map((finding) => [
    finding.verdict === "ok" ? "ok" : finding.verdict.toUpperCase(),
    finding.subject,
    finding.detail.replaceAll("\n", " "),
  ]);
  return [
    ...(description === undefined ? [] : [quote(description), ""]),
    table(["RESULT", "CHECK", "DETAIL"], rows).trimEnd(),
    "",
    verdict,
  ].join("\n");
}

/** A stranger's text among our own lines: with a mark before each of its lines, where there are several. */
export function quote(text: string): string {
  return text.includes("\n") ? `| ${text.replaceAll("\n", "\n| ")}` : text;
}

export function plural(count: number, noun: string): string {
  return count === 1 ? `1 ${noun}` : `${count} ${noun}s`;
}

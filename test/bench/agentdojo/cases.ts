/** AgentDojo's tasks and attacks, exported from a clone of it. Nothing of the benchmark is here. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { Called } from "../../../plugins/provenance/ruling.ts";

export interface Step {
  readonly call?: string;
  readonly obeys?: string;
  readonly with: Readonly<Record<string, unknown>>;
  /** The answer in each of the forms. */
  readonly gives: readonly string[];
}

export interface Case {
  readonly id: string;
  readonly suite: string;
  readonly kind: "task" | "attack";
  readonly person: readonly string[];
  readonly steps: readonly Step[];
}

export interface Exported {
  readonly tools: readonly Pick<
    Called & { readonly suite: string },
    "name" | "suite" | "writes" | "schema"
  >[];
  readonly cases: readonly Case[];
  readonly broken: readonly string[];
}

export const FORMS = ["JSON", "YAML", "free text"] as const;

/** The day on which its conversations happen. */
export const TODAY = new Date(2024, 4, 15);

export function readCases(clone: string, version: string): Exported {
  const printed = execFileSync("python3", [join(import.meta.dirname, "export.py"), clone, version], {
    maxBuffer: 2 ** 30,
    stdio: ["ignore", "pipe", "pipe"],
  });
  return JSON.parse(printed.toString()) as Exported;
}

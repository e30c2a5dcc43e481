/** §7.2 Tools whose error fails the turn: a call that failed may be made again, and the last one counts. And the only ones it may use. */
import { Fault, type ToolOutcome } from "../../../kernel/plugin.ts";

export type RequiredTools = ReturnType<typeof createRequiredTools>;

/** Carried from a gate to the turn that answers it: plain data, stored with the gate. */
export interface Carried {
  readonly tools: readonly string[];
  readonly failures: readonly (readonly [tool: string, message: string])[];
  /** Absent where the turn may use all that it has. */
  readonly only?: readonly string[] | undefined;
}

export const NOTHING_REQUIRED: Carried = { tools: [], failures: [] };

export function createRequiredTools(before: Carried) {
  const required = new Set(before.tools);
  const failures = new Map(before.failures);
  let only = before.only && new Set(before.only);
  return {
    add(tools: readonly string[]): void {
      for (const tool of tools) required.add(tool);
    },
    /** From now on only these, of those that were left. */
    narrow(tools: readonly string[]): void {
      const named = new Set(tools);
      only = only?.intersection(named) ?? named;
    },
    /** Reading and running what belongs to a skill is always left. */
    allows: (tool: string): boolean => only === undefined || only.has(tool) || tool.startsWith("skill_"),
    /** Told of every call that has come to its end, whether its tool is required or becomes so later. */
    settled(tool: string, outcome: ToolOutcome): void {
      if (outcome.status === "ok") failures.delete(tool);
      else failures.set(tool, outcome.message);
    },
    assertNoneFailed(): void {
      for (const [tool, message] of failures) {
        if (!required.has(tool)) continue;
        throw new Fault("turn", "required_tool_failed", `The required tool "${tool}" failed: ${message}`);
      }
    },
    carry: (): Carried => ({
      tools: [...required],
      failures: [...failures],
      ...(only && { only: [...only] }),
    }),
  };
}

/** `postern doctor --fix`: does what findings offer, one after the other, and says what it did. */
import { type CommandContext, type Finding, reason } from "../../plugin.ts";

export interface FixResult {
  readonly name: string;
  readonly about: string;
  readonly state: "fixed" | "failed" | "would fix" | "needs --yes";
  readonly detail?: string;
}

export interface FixOptions {
  readonly fix?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

export async function applyFixes(
  findings: readonly Finding[],
  { dryRun = false, yes = false }: FixOptions,
  context: CommandContext,
): Promise<readonly FixResult[]> {
  const results: FixResult[] = [];
  for (const { name, fix } of findings) {
    if (fix === undefined) continue;
    const { about, asks } = fix;
    if (asks !== undefined && !yes) results.push({ name, about, state: "needs --yes", detail: asks });
    else if (dryRun) results.push({ name, about, state: "would fix" });
    else
      try {
        await fix.apply(context);
        results.push({ name, about, state: "fixed" });
      } catch (error) {
        results.push({ name, about, state: "failed", detail: reason(error) });
      }
  }
  return results;
}

export function fixesInWords(results: readonly FixResult[]): string {
  if (results.length === 0) return "  Nothing that can be fixed automatically.\n";
  const lines = results.map(
    ({ name, about, state, detail }) => `  ${state}: ${name}: ${about}${detail ? ` (${detail})` : ""}\n`,
  );
  return lines.join("");
}

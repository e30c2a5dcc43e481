/** What an approval holds for. */
import { createHash } from "node:crypto";
import type { ToolInfo } from "./tools.ts";

/** What tells a tool from another of the same name. A provider that does not say is taken at its word about everything else. */
export function fingerprintOf(tool: ToolInfo): string {
  const { version, description, schema, grants, writes } = tool;
  const facts = JSON.stringify([version, description, schema, grants, writes]);
  return tool.fingerprint ?? createHash("sha256").update(facts).digest("hex");
}

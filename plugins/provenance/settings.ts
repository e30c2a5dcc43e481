/** The settings of provenance, from the environment and the store. */
import type { Env } from "../../kernel/plugin.ts";

export type ProvenanceSettings = ReturnType<typeof readProvenance>;

export function readProvenance(env: Env) {
  return {
    mode: env.oneOf(
      "PROVENANCE",
      ["ask", "deny", "off"],
      "ask",
      "What happens to a tool call with values that somebody other than the user supplied",
    ),
    trusted: new Set(
      env.list(
        "TRUSTED_SOURCES",
        "Tools, and MCP servers as mcp:<name>, whose output counts like the user's own words",
      ),
    ),
  };
}

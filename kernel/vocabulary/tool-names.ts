/** The names of tools that are taken before anybody installs or brings one. */

/** The agent's own tools begin with these (§2.5); neither an installed tool nor a caller's may. */
const RESERVED_PREFIXES = ["memory_", "skill_", "mission_", "task_", "workspace_"] as const;

export function reservedPrefix(name: string): string | undefined {
  return RESERVED_PREFIXES.find((prefix) => name.startsWith(prefix));
}

export const TOOL_SEARCH = "tool_search";
export const ROUTINE_PROPOSE = "routine_propose";
export const TOOL_PROPOSE = "tool_propose";

const RESERVED_NAMES = [TOOL_SEARCH, ROUTINE_PROPOSE, TOOL_PROPOSE];

/** A name that only the agent's own tools may have. */
export function isAgentsName(name: string): boolean {
  return RESERVED_NAMES.includes(name) || reservedPrefix(name) !== undefined;
}

/** True if tools called `<name>_…` would have names of the agent's own. */
export function isAgentsPrefix(name: string): boolean {
  return [...RESERVED_PREFIXES, ...RESERVED_NAMES].some((reserved) => reserved.startsWith(`${name}_`));
}

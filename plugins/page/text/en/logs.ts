import { plural } from "../language.ts";

/** The log and the nodes. */
export const logs = {
  follow: "Follow",
  level: "Minimum level",
  levels: {
    debug: "Debug and up",
    info: "Info and up",
    warn: "Warnings and up",
    error: "Errors and up",
    fatal: "Fatal",
  },
  text: "Text",
  user: "User",
  turn: "Turn",
  clear: "Clear",
  none: "No line matches",
  noneNote: "Choose a lower level or clear the filter. LOG_LEVEL decides what is written at all.",
  lines: "Log lines, newest first",
  onlyUser: (user: string) => `Only lines of ${user}`,
  onlyTurn: "Only lines of this turn",
  nodesAndStore: (count: number) => plural(count, { one: "# node, store", other: "# nodes, store" }),
  nodes: "Nodes, store",
  columns: { node: "Node", version: "Version", started: "Started", seen: "Last seen" },
  store: "Store",
};

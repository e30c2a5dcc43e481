/** Compares what the operator agreed to with what the server says now, and so decides which tools are offered, held back or off. */
import { hash } from "node:crypto";
// Not the whole package, because this is loaded with the host.
import { structuredPatch } from "diff/lib/patch/create.js";
import { describeServer } from "../../../capabilities/servers/describe.ts";
import type { ToolInfo } from "../../../kernel/plugin.ts";
import type { McpTool } from "../../wire.ts";
import { type Definition, type Listed, MAX_TOOLS, warningsOf } from "./definition.ts";
import { isPerUser, type StoredServer, type StoredTool } from "./rows.ts";

/** For all stored tools of a server; one list may take up half of it. */
const MAX_STORED_CHARS = 4 * 1024 * 1024;
const MAX_NAME_LENGTH = 64;
const SUFFIX_LENGTH = 6;
const MAX_DIFF_LINES = 400;
/** Texts with more changed lines than this are shown one after the other: comparing them would take seconds. */
const MAX_DIFF_EDITS = 600;

/** The tools after the server's list was read. `isWhole`: tools that are not in the list are gone. */
export function afterListing(
  server: Pick<StoredServer, "name" | "tools">,
  { definitions }: Listed,
  { isWhole, isTaken }: { readonly isWhole: boolean; readonly isTaken: (name: string) => boolean },
): readonly StoredTool[] {
  const given = new Map(server.tools.map(({ tool, name }) => [tool, name]));
  const listed = new Map(definitions.map((definition) => [definition.tool, definition]));
  const names = nameTools(server.name, [...listed.keys()], given, isTaken);
  const known = server.tools.map((tool): StoredTool => {
    const now = listed.get(tool.tool);
    if (now === undefined) return isWhole ? { ...tool, isThere: false } : tool;
    return { ...tool, isThere: true, now: tool.agreed?.digest === now.digest ? undefined : now };
  });
  const added = definitions
    .filter(({ tool }) => !given.has(tool))
    .map((now): StoredTool => {
      const name = names.get(now.tool) as string;
      return { tool: now.tool, name, now, isThere: true, mayRun: false };
    });
  // A tool that is gone is kept only if the operator agreed to it.
  return bounded([...known.filter(({ isThere, agreed }) => isThere || agreed !== undefined), ...added]);
}

/** If each user has a credential, a server can show ever new tools: the oldest that nobody agreed to are dropped. */
function bounded(tools: readonly StoredTool[]): readonly StoredTool[] {
  let count = tools.length;
  let size = JSON.stringify(tools).length;
  return tools.filter((tool) => {
    if (tool.agreed !== undefined || (count <= MAX_TOOLS && size <= MAX_STORED_CHARS)) return true;
    count -= 1;
    size -= JSON.stringify(tool).length;
    return false;
  });
}

/** Names a server's tools `<server>_<tool>`, legal and unique; given names stay. `isTaken`: something else has the name. */
export function nameTools(
  server: string,
  tools: readonly string[],
  given: ReadonlyMap<string, string>,
  isTaken: (name: string) => boolean,
): ReadonlyMap<string, string> {
  // Some places do not tell the case of names apart.
  const used = new Set([...given.values()].map((name) => name.toLowerCase()));
  const isFree = (name: string) => !used.has(name.toLowerCase()) && !isTaken(name);
  return new Map(
    tools.map((tool) => {
      let name = given.get(tool) ?? `${server}_${tool}`;
      const isPlain = /^[A-Za-z0-9_-]+$/.test(name) && name.length <= MAX_NAME_LENGTH && isFree(name);
      // A server can work out the suffix of one tool and give another that very name.
      if (!given.has(tool) && !isPlain)
        for (let attempt = 0; attempt === 0 || !isFree(name); attempt++)
          name = withSuffix(server, tool, attempt);
      used.add(name.toLowerCase());
      return [tool, name];
    }),
  );
}

/** The suffix is a hash of both whole names, so that two tools whose legal names are alike get different ones. */
function withSuffix(server: string, tool: string, attempt: number): string {
  const whole = [server, tool, ...(attempt === 0 ? [] : [attempt])].join("\n");
  const suffix = hash("sha256", whole).slice(0, SUFFIX_LENGTH);
  const legal = `${server}_${tool.replace(/[^A-Za-z0-9_-]+/g, "_")}`;
  let end = Math.min(legal.length, MAX_NAME_LENGTH - SUFFIX_LENGTH - 1);
  while (legal[end - 1] === "_") end -= 1;
  return `${legal.slice(0, end)}_${suffix}`;
}

/** The operator has seen the tools as they are now. `mayRun`: read-only tools need not ask. */
export function afterAgreeing(
  tools: readonly StoredTool[],
  isMeant: (tool: StoredTool) => boolean,
  mayRun: boolean,
): readonly StoredTool[] {
  return tools.map((tool) => {
    if (!tool.isThere || !isMeant(tool)) return tool;
    return { ...tool, agreed: tool.now ?? tool.agreed, now: undefined, mayRun: mayRun || tool.mayRun };
  });
}

export function isHeld({ isThere, agreed, now }: StoredTool): boolean {
  return isThere && (agreed === undefined || now !== undefined);
}

function stateOf({ file }: StoredServer, tool: StoredTool): McpTool["state"] {
  const { allow, withoutAsking } = file;
  if (allow !== undefined && !allow.includes(tool.tool)) return "off";
  if (isHeld(tool) || tool.agreed === undefined) return "held";
  const runs =
    withoutAsking === undefined ? tool.mayRun && tool.agreed.readOnly : withoutAsking.includes(tool.tool);
  return runs ? "runs" : "asks";
}

/**
 * The state for a call. Where each user has a credential, what one user is shown says nothing about the others: each call is held to
 * what the user's own session lists, and the operator sees the difference.
 */
export function stateForCalls(server: StoredServer, tool: StoredTool): McpTool["state"] {
  return stateOf(server, isPerUser(server) ? { ...tool, now: undefined } : tool);
}

export function toInfo(server: StoredServer, tool: StoredTool): ToolInfo | undefined {
  const state = stateForCalls(server, tool);
  const { agreed } = tool;
  if (agreed === undefined || !tool.isThere || state === "held" || state === "off") return undefined;
  const grants = describeServer(server.file);
  // Changes when the tool does, or where and how it is reached.
  const identity = JSON.stringify([tool.name, server.id, agreed.digest, grants, server.file.target]);
  return {
    name: tool.name,
    version: agreed.digest.slice(0, 12),
    description: described(agreed),
    schema: agreed.schema,
    grants,
    writes: !(agreed.readOnly && tool.mayRun),
    asks: state === "asks",
    hints: { readOnly: agreed.readOnly, destructive: agreed.destructive, openWorld: agreed.openWorld },
    fingerprint: hash("sha256", identity),
    server: { name: server.name, tool: tool.tool, warnings: [...warningsOf(agreed)] },
  };
}

export function showTool(server: StoredServer, tool: StoredTool): McpTool | undefined {
  const { agreed, now } = tool;
  const shown = now ?? agreed;
  if (shown === undefined || !tool.isThere) return undefined;
  return {
    name: tool.name,
    tool: tool.tool,
    description: described(shown),
    schema: shown.schema,
    digest: shown.digest,
    readOnly: shown.readOnly,
    state: stateOf(server, tool),
    warnings: [...warningsOf(shown)],
    change: now && {
      before: agreed && { description: described(agreed), schema: agreed.schema },
      after: { description: described(now), schema: now.schema },
      differences: [...compare(agreed, now)],
    },
  };
}

function described({ title, description }: Definition): string {
  return title === undefined ? description : `${title}\n${description}`;
}

/** Changed lines: "- " before those that were there, "+ " before new ones. */
function compare(before: Definition | undefined, after: Definition): readonly string[] {
  const [old, fresh] = [before === undefined ? "" : textOf(before), textOf(after)];
  const options = { context: 0, maxEditLength: MAX_DIFF_EDITS };
  const patch = structuredPatch("", "", old, fresh, "", "", options);
  const lines = patch
    ? patch.hunks.flatMap((hunk) => hunk.lines.map((line) => `${line[0]} ${line.slice(1)}`))
    : [...marked("-", old), ...marked("+", fresh)];
  // The digest covers more of a description than is kept.
  if (lines.length === 0) return ["what differs is beyond the part of the description that is shown"];
  const more = lines.length - MAX_DIFF_LINES;
  return more > 0 ? [...lines.slice(0, MAX_DIFF_LINES), `${more} more lines`] : lines;
}

function marked(sign: string, text: string): string[] {
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => `${sign} ${line}`);
}

/** Each line ends with a line feed, which a diff would mention otherwise. */
function textOf(definition: Definition): string {
  const { title, description, schema, outputSchema, readOnly, destructive, openWorld } = definition;
  const lines = [
    ...(title === undefined ? [] : [`title: ${title}`]),
    "description:",
    ...description.split("\n").map((line) => `  ${line}`),
    `read-only: ${readOnly}, destructive: ${destructive}, open world: ${openWorld}`,
    "params:",
    JSON.stringify(schema, undefined, 2),
    ...(outputSchema === undefined ? [] : ["output:", JSON.stringify(outputSchema, undefined, 2)]),
  ];
  return lines.map((line) => `${line}\n`).join("");
}

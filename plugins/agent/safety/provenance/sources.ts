/** Tells whose words a conversation has: whose tool said them, and whether the operator trusts it. */
import type { Origin, ToolInfo } from "../../../../kernel/plugin.ts";
import { showTool } from "../foreign.ts";
import type { Heard } from "./ruling.ts";
import { type Entry, scalarsIn, type Trace } from "./trace.ts";

export interface Source extends Heard {
  readonly origin: Origin;
  /** The page or file that was read. */
  readonly place: string | undefined;
}

export interface Whose {
  readonly installed: ReadonlyMap<string, ToolInfo>;
  /** Names of tools, and of servers after "mcp:". */
  readonly trusted: ReadonlySet<string>;
  /** Own tools whose output is meant to be followed. */
  readonly followed: ReadonlySet<string>;
}

export interface Sources {
  readonly said: readonly string[];
  /** Values that count as the person's. */
  readonly known: readonly string[];
  readonly heard: readonly Source[];
}

export function sourcesOf(trace: Trace, whose: Whose): Sources {
  const known = [...trace.known];
  const heard: Source[] = [...knownDescriptions(whose)];
  for (const entry of trace.entries) {
    const { text, asked, tool } = entry;
    const origin = originOf(entry, whose);
    if (origin === undefined) {
      if (tool !== undefined && whose.followed.has(tool.name)) known.push(text);
    } else if (isTrusted(origin, whose)) known.push(text);
    else {
      // A function of the caller may have any name.
      const isOurs = tool !== undefined && !tool.isCallers;
      const name = isOurs ? (whose.installed.get(tool.name)?.server?.tool ?? tool.name) : undefined;
      const owner = ownerOf(origin, whose);
      heard.push({ origin, owner, place: placeOf(asked), text, asked, tool: name, isPast: entry.isPast });
    }
  }
  return { said: trace.said, known, heard };
}

/** Undefined where the words are the agent's own. */
function originOf({ origin, tool }: Entry, { installed }: Whose): Origin | undefined {
  if (origin !== undefined) return origin;
  if (tool === undefined || tool.isOwn) return undefined;
  if (tool.isCallers) return { kind: "caller", name: tool.name };
  const server = installed.get(tool.name)?.server;
  return server ? { kind: "server", name: server.name } : { kind: "tool", name: tool.name };
}

function isTrusted({ kind, name }: Origin, { trusted }: Whose): boolean {
  return (kind === "tool" && trusted.has(name)) || (kind === "server" && trusted.has(`mcp:${name}`));
}

function ownerOf({ kind, name }: Origin, { installed }: Whose): string {
  const tool = kind === "tool" ? installed.get(name) : undefined;
  return tool ? ownerOfTool(tool) : `${kind} ${name}`;
}

/** Tools that can reach the same hosts have the same owner. */
export function ownerOfTool({ name, server, hosts = [] }: ToolInfo): string {
  if (server) return `server ${server.name}`;
  return hosts.length > 0 ? `hosts ${hosts.toSorted().join(" ")}` : `tool ${name}`;
}

/**
 * True where what the tool is sent leaves this machine. What a stranger's server says of itself counts only where it is trusted;
 * a plugin's tool, which the operator chose to run in our process, is believed.
 */
export function isOutside({ server, hosts, hints }: ToolInfo, { trusted }: Whose): boolean {
  if (server) return !(trusted.has(`mcp:${server.name}`) && hints?.openWorld === false);
  return hosts === undefined ? (hints?.openWorld ?? false) : hosts.length > 0;
}

const DESCRIPTIONS = new WeakMap<Whose, readonly Source[]>();

function knownDescriptions(whose: Whose): readonly Source[] {
  const found = DESCRIPTIONS.get(whose) ?? descriptionsOf(whose);
  DESCRIPTIONS.set(whose, found);
  return found;
}

/** The descriptions of tools of strangers' servers, which a model reads in every turn. */
function descriptionsOf({ installed, trusted }: Whose): readonly Source[] {
  const servers = new Map<string, string[]>();
  for (const tool of installed.values()) {
    const { server } = tool;
    if (!server || trusted.has(`mcp:${server.name}`)) continue;
    const { name, description, schema } = showTool(tool);
    const words = `${name}\n${description}\n${JSON.stringify(schema)}`;
    servers.set(server.name, [...(servers.get(server.name) ?? []), words]);
  }
  return [...servers].map(([name, texts]) => ({
    origin: { kind: "server", name },
    owner: `server ${name}`,
    place: undefined,
    text: texts.join("\n"),
    asked: undefined,
  }));
}

const MAX_PLACE_LENGTH = 300;

const PLACES = new WeakMap<object, { readonly place: string | undefined }>();

function placeOf(asked: unknown): string | undefined {
  if (typeof asked !== "object" || asked === null) return undefined;
  const found = PLACES.get(asked) ?? { place: placeIn(asked) };
  PLACES.set(asked, found);
  return found.place;
}

/** The page or file to read, where the call named one thing that looks like it. */
function placeIn(asked: object): string | undefined {
  const named = [...scalarsIn(asked, "")].flatMap(([, value]) =>
    typeof value === "string" && isPlace(value) ? [value] : [],
  );
  return named.length === 1 ? named[0] : undefined;
}

const isPlace = (value: string): boolean =>
  value.length <= MAX_PLACE_LENGTH && !/\s/.test(value) && /[./\\]/.test(value) && /[\w/]$/.test(value);

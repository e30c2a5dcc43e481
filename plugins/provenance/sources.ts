/** Tells whose words a conversation has: whose tool said them, and whether the operator trusts it. */
import type { Origin, ToolInfo } from "../../kernel/plugin.ts";
import type { CheckedTurn, Stranger } from "../agent/services.ts";
import { leadsOut } from "./call/param-roles.ts";
import { contains, listedIn } from "./outputs/search.ts";
import type { Heard } from "./ruling.ts";
import { type Entry, scalarsIn, type Trace } from "./trace.ts";

export interface Source extends Heard {
  readonly origin: Origin;
  /** Who else had a hand in it: the tool that told it, and whom it quotes. */
  readonly others?: readonly Origin[] | undefined;
  /** The page or file that was read. */
  readonly place: string | undefined;
  /** True for what came from outside with a message, and not by a call. */
  readonly isDocument?: boolean | undefined;
  /** The tool, where it changed something. */
  readonly made?: ToolInfo | undefined;
  /** The tool, where it only looks things up outside: what it says was not written from here. */
  readonly lookup?: ToolInfo | undefined;
}

export interface Whose {
  readonly installed: ReadonlyMap<string, ToolInfo>;
  /** Names of tools, and of servers after "mcp:". */
  readonly trusted: ReadonlySet<string>;
  /** Whether it is an own tool whose output is meant to be followed. */
  isFollowed(tool: string): boolean;
  /** A tool as the model reads it. */
  show: CheckedTurn["show"];
}

export interface Sources {
  readonly said: readonly string[];
  /** Values that count as the person's. */
  readonly known: readonly string[];
  readonly approved: Trace["approved"];
  readonly begin: Trace["begin"];
  readonly heard: readonly Source[];
  /** The calls that were made, whatever came of them and whoever is trusted. */
  readonly called: readonly { readonly tool: string; readonly params: unknown; readonly at: number }[];
}

export function sourcesOf(trace: Trace, whose: Whose): Sources {
  const { known, heard } = heardIn(trace, whose);
  const { said, approved, begin } = trace;
  const called = trace.entries.flatMap(({ tool, asked: params }, at) =>
    tool === undefined || tool.isOwn ? [] : [{ tool: tool.name, params, at }],
  );
  return { said, known, approved, begin, heard: [...knownDescriptions(whose), ...heard], called };
}

/** Without the descriptions of tools. */
export function heardIn(trace: Trace, whose: Whose): Pick<Sources, "known" | "heard"> {
  const known = [...trace.known];
  const heard: Source[] = [];
  for (const [at, entry] of trace.entries.entries()) {
    const { text, asked, tool } = entry;
    const origin = originOf(entry, whose);
    if (origin === undefined) {
      if (tool !== undefined && whose.isFollowed(tool.name)) known.push(text);
    } else if (isTrusted(origin, whose)) {
      if (!entry.isMade) known.push(text);
    } else {
      // A function of the caller may have any name.
      const isOurs = tool !== undefined && !tool.isCallers;
      const name = isOurs ? (whose.installed.get(tool.name)?.server?.tool ?? tool.name) : undefined;
      const place = placeOf(asked);
      const teller = toolOrigin(tool, whose);
      const installed = !entry.isMade && isOurs ? whose.installed.get(tool.name) : undefined;
      const isPage = installed !== undefined && place !== undefined && readsAnyPage(installed);
      heard.push({
        origin: isPage ? { kind: "page", name: place } : origin,
        others: entry.origins?.length ? [...entry.origins, ...(teller ? [teller] : [])] : undefined,
        owner: installed ? ownerOfTool(installed, asked) : ownerOf(origin, whose),
        place,
        text,
        asked,
        tool: name,
        isPast: entry.isPast,
        isDocument: entry.isDocument,
        isMade: entry.isMade,
        at,
        made: installed?.writes && !entry.isFailed ? installed : undefined,
        lookup: installed && looksUp(installed, whose) ? installed : undefined,
      });
    }
  }
  return { known, heard };
}

/** Undefined where the words are the agent's own. Of several, one that is not trusted. */
function originOf({ origins = [], tool }: Entry, whose: Whose): Origin | undefined {
  return origins.find((one) => !isTrusted(one, whose)) ?? origins[0] ?? toolOrigin(tool, whose);
}

function toolOrigin(tool: Entry["tool"], { installed }: Whose): Origin | undefined {
  if (tool === undefined || tool.isOwn) return undefined;
  if (tool.isCallers) return { kind: "caller", name: tool.name };
  const server = installed.get(tool.name)?.server;
  return server ? { kind: "server", name: server.name } : { kind: "tool", name: tool.name };
}

/** A tool that calls others says what they said, so that nobody can trust it in their place. */
function isTrusted({ kind, name }: Origin, { trusted, installed }: Whose): boolean {
  if (kind === "tool" && installed.get(name)?.agentTools !== undefined) return false;
  return (kind === "tool" && trusted.has(name)) || (kind === "server" && trusted.has(`mcp:${name}`));
}

function ownerOf({ kind, name }: Origin, { installed }: Whose): string {
  const tool = kind === "tool" ? installed.get(name) : undefined;
  return tool ? ownerOfTool(tool) : `${kind} ${name}`;
}

/** True where its grant is any public web page. */
export function readsAnyPage({ hosts = [] }: ToolInfo): boolean {
  return hosts.includes("*");
}

/** True for a tool that reads what is outside and keeps nothing, unless another may write there: it would read what that one wrote. */
function looksUp(tool: ToolInfo, { installed }: Whose): boolean {
  const { server, writes, hosts = [] } = tool;
  if (server || writes || hosts.length === 0) return false;
  const covers = (one: string, other: string) =>
    one === other || (one.startsWith("*.") && other.endsWith(one.slice(1)));
  const isWritten = (host: string) =>
    installed
      .values()
      .some((other) => other.writes && other.hosts?.some((one) => covers(one, host) || covers(host, one)));
  return readsAnyPage(tool) || !hosts.some(isWritten);
}

/** The one record of what it found that has the value, as words of the page that the record is about. */
export function narrow(source: Source, value: string): Source {
  const has = contains(value);
  const records = source.lookup ? listedIn(source).records : [];
  const record = records.find((one) => has({ text: one.map(([, field]) => field).join("\n") }));
  const address = record?.find(([name, field]) => leadsOut([name]) && /^https?:/.test(String(field)))?.[1];
  if (record === undefined || address === undefined) return source;
  const text = record.map(([name, field]) => `${name}: ${field}`).join("\n");
  return { ...source, origin: { kind: "page", name: String(address) }, place: String(address), text };
}

/** Tools that can reach the same hosts have the same owner. Where that is any host, it is the one that the call names. */
export function ownerOfTool(tool: ToolInfo, asked?: unknown): string {
  const { name, server, hosts = [] } = tool;
  if (server) return `server ${server.name}`;
  if (readsAnyPage(tool)) return `hosts ${URL.parse(placeOf(asked) ?? "")?.host ?? name}`;
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

/** What somebody else wrote, and a model reads before every conversation. */
export function strangersWords({ origin, text }: Stranger): Source {
  return {
    origin,
    owner: `${origin.kind} ${origin.name}`,
    place: undefined,
    text,
    asked: undefined,
    isMade: true,
  };
}

const DESCRIPTIONS = new WeakMap<Whose, readonly Source[]>();

function knownDescriptions(whose: Whose): readonly Source[] {
  const found = DESCRIPTIONS.get(whose) ?? descriptionsOf(whose);
  DESCRIPTIONS.set(whose, found);
  return found;
}

/** The descriptions of tools of strangers' servers, which a model reads in every turn. */
function descriptionsOf({ installed, trusted, show }: Whose): readonly Source[] {
  const servers = new Map<string, string[]>();
  for (const tool of installed.values()) {
    const { server } = tool;
    if (!server || trusted.has(`mcp:${server.name}`)) continue;
    const { name, description, schema } = show(tool);
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

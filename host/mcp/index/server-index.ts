/** MCP servers that can be added by name. A list of MCP_INDEX is a stranger's, and takes no name listed before it. */
import { resolve } from "node:path";
import type { PrivateHosts } from "../../../kernel/kit/outbound.ts";
import { compileCheck } from "../../../kernel/kit/schema.ts";
import { isRecord } from "../../../kernel/kit/text.ts";
import { Fault } from "../../../kernel/plugin.ts";
import { readUrl } from "../../broker/policy.ts";
import type { Downloads } from "../../sources/download.ts";
import { type Listing, parseListing, readListings, sentence } from "../../sources/index/listing.ts";
import type { ListedServer, ServerListing } from "../../wire.ts";
import { checkServerName } from "../tools/server-file.ts";
import known from "./known-servers.json" with { type: "json" };
import schema from "./schema.json" with { type: "json" };

const SHIPPED = "shipped";
const MAX_ABOUT = 240;

export interface ServerIndexParts {
  readonly downloads: Downloads;
  /** URLs, or paths from `folder`. */
  readonly serverIndexes?: readonly string[] | undefined;
  readonly folder: string;
  readonly privateHosts: PrivateHosts;
}

export function createServerIndex(parts: ServerIndexParts) {
  const { downloads, serverIndexes: named = [], folder, privateHosts } = parts;
  const parse = (text: string, index: string) => parseServerIndex(text, index, privateHosts);
  return async (signal?: AbortSignal): Promise<ServerListing> => {
    const shipped = parse(JSON.stringify(known), SHIPPED);
    const fileOf = (name: string) => resolve(folder, name);
    const further = await readListings({ downloads, named, fileOf, signal }, parse);
    const servers = new Map(shipped.entries.map((entry) => [entry.name, entry]));
    const problems = [...shipped.problems, ...further.problems];
    for (const entry of further.entries) {
      const first = servers.get(entry.name);
      if (first === undefined) servers.set(entry.name, entry);
      else
        problems.push(
          `${entry.name} of the index ${entry.index} is left out: the index ${first.index} has that name.`,
        );
    }
    return { date: known.date, servers: [...servers.values()], problems };
  };
}

const check = compileCheck(schema);

export function parseServerIndex(
  text: string,
  index: string,
  privateHosts: PrivateHosts,
): Listing<ListedServer> {
  return parseListing(text, index, "server", (value) => readServer(value, index, privateHosts));
}

function readServer(value: unknown, index: string, privateHosts: PrivateHosts): ListedServer {
  const wrong = (why: string) => new Fault("invalid", "bad_index", why);
  if (!isRecord(value)) throw wrong("it is not an object");
  const [mistake] = check(value);
  if (mistake !== undefined) throw wrong(`${mistake.path} ${mistake.problem}`.trim());
  const { sign_in: signIn, asks = [], env = [], ...entry } = value as unknown as EntryInJson;
  const { name, url, command } = entry;
  checkServerName(name);
  const about = sentence(entry.about, MAX_ABOUT);
  if (about === "") throw wrong(`${name} has no "about" that says what it is`);
  if ((url === undefined) === (command === undefined)) throw wrong(`${name} needs a url or a command`);
  if (url !== undefined) {
    readUrl(url, privateHosts);
    if (signIn === undefined) throw wrong(`${name} has no "sign_in": browser, token or none`);
    if (asks.length > 0 || env.length > 0)
      throw wrong(`${name} has "asks" or "env", which are for a command`);
  } else if (signIn !== undefined) throw wrong(`${name} has a "sign_in", which is for a url`);
  // A person agrees to the command as it is shown.
  for (const word of [...(command ?? []), entry.page ?? "", ...asks])
    if (sentence(word, 4000) !== word.trim() || word !== word.trim())
      throw wrong(`${name} has hidden characters in its command, page or questions`);
  return { ...entry, about, signIn, asks, env, index };
}

/** An entry's JSON once the schema has accepted it. */
interface EntryInJson {
  readonly name: string;
  readonly about: string;
  readonly page?: string;
  readonly url?: string;
  readonly sign_in?: "browser" | "token" | "none";
  readonly command?: readonly string[];
  readonly asks?: readonly string[];
  readonly env?: readonly string[];
}

/** The servers that can be added by name: `mcp index`, and what `mcp add` takes from the list. */
import { isCancel, select } from "@clack/prompts";
import { isInteractive, type JsonOption, table } from "../../../kernel/kit/terminal.ts";
import { visibleLine } from "../../../kernel/kit/text.ts";
import { type CommandContext, Fault } from "../../../kernel/plugin.ts";
import type { McpServers } from "../../services.ts";
import { searchEntries } from "../../sources/index/listing.ts";
import type { ListedServer, ServerListing } from "../../wire.ts";
import { terminalPrompt } from "../terminal/prompt.ts";
import { print, progress } from "../terminal/terminal.ts";
import { withServers } from "./server-access.ts";

export async function index(
  context: CommandContext,
  words: readonly string[],
  options: JsonOption,
): Promise<void> {
  await withServers(context, async (servers) => {
    const listing = await servers.index();
    const found = searchEntries(listing.servers, words);
    if (!options.json) for (const problem of listing.problems) progress(problem);
    const json = found.map(({ signIn, ...server }) => ({ ...server, sign_in: signIn }));
    print(options, { date: listing.date, servers: json, problems: listing.problems }, () =>
      found.length === 0
        ? `No server found for "${words.join(" ")}".`
        : describe({ ...listing, servers: found }),
    );
  });
}

interface Chosen {
  readonly name: string;
  readonly target: readonly string[];
  readonly isCommand: boolean;
  readonly options: {
    readonly token?: true;
    readonly env?: Readonly<Record<string, string | undefined>>;
  };
}

/** Undefined where no list has the name: then the words are what they always were. */
export async function chooseListed(
  servers: McpServers,
  typed: string | undefined,
  words: readonly string[],
  given: { readonly env: Readonly<Record<string, string | undefined>>; readonly path: string },
): Promise<Chosen | undefined> {
  const listing = await servers.index();
  for (const problem of listing.problems) progress(problem);
  const name = typed ?? (await choose(listing));
  const server = listing.servers.find((one) => one.name === name);
  if (server === undefined) {
    if (words.length > 0) return undefined;
    throw usage(
      `No list has a server named ${visibleLine(name)}. "postern mcp index" shows what they have; for another, give its URL or a command: postern mcp add ${visibleLine(name)} https://…`,
    );
  }
  const { url, command = [], asks, env, signIn } = server;
  progress(`${name}: ${server.about} ${howItSignsIn(server)}${server.page ? ` See ${server.page}` : ""}`);
  if (words.length > asks.length)
    throw usage(
      asks.length === 0
        ? `${name} takes nothing after its name, given "${words.join(" ")}"`
        : `${name} takes ${asks.length === 1 ? "one word" : `${asks.length} words`} after its name: ${asks.join(", ")}`,
    );
  if (url !== undefined) {
    const token = signIn === "token" ? { token: true as const } : {};
    return { name, target: [url], isCommand: false, options: token };
  }
  const answers: string[] = [];
  for (const [at, question] of asks.entries()) answers.push(words[at] ?? (await ask(name, question)));
  const asked = Object.fromEntries(env.map((variable) => [variable, undefined]));
  // Programs that start packages, such as npx, find nothing without it.
  const all = { PATH: given.path, ...asked, ...given.env };
  return { name, target: [...command, ...answers], isCommand: true, options: { env: all } };
}

async function choose(listing: ServerListing): Promise<string> {
  if (!isInteractive())
    throw usage(`${describe(listing)}\nThere is no terminal to ask on; name one: postern mcp add linear`);
  const answer = await select({
    message: `Which server? The list is of ${listing.date}; its addresses were not tried.`,
    options: listing.servers.map(({ name, about }) => ({ value: name, label: name, hint: about })),
    maxItems: 12,
    output: process.stderr,
  });
  if (isCancel(answer)) throw new Fault("invalid", "gave_up", "Cancelled; nothing was added.");
  return answer;
}

async function ask(name: string, question: string): Promise<string> {
  const answer = (
    await terminalPrompt().text(`${name}: the ${question}`, new AbortController().signal)
  )?.trim();
  if (answer) return answer;
  throw usage(`${name} needs the ${question}: postern mcp add ${name} …`);
}

function describe({ date, servers }: ServerListing): string {
  const rows = servers.map((server) => [
    server.name,
    server.about,
    howItSignsIn(server),
    server.url ?? server.command?.join(" ") ?? "",
  ]);
  const list = table(["NAME", "ABOUT", "SIGN-IN", "ADDRESS OR COMMAND"], rows, {
    cut: ["ABOUT", "ADDRESS OR COMMAND"],
  });
  return `${list}\nThe list that comes with Postern is of ${date}; its addresses and commands were not tried.\nAdd one: postern mcp add ${servers[0]?.name ?? "linear"}`;
}

function howItSignsIn({ signIn, env }: ListedServer): string {
  if (signIn === "browser") return "You sign in with your browser.";
  if (signIn === "token") return "It takes a token.";
  return env.length === 0 ? "It needs no sign-in." : `It takes ${env.join(", ")}.`;
}

export function usage(message: string): Fault {
  return new Fault("invalid", "usage", message, { usage: true });
}

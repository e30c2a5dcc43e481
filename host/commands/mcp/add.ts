/** `mcp add`: connects, shows what would be added, and asks. Nothing is left of a server that the person refuses. */
import { resolve } from "node:path";
import { hostAndPort, localKind, type PrivateHosts } from "../../../kernel/kit/outbound.ts";
import { toWire } from "../../../kernel/kit/schema.ts";
import { agree, type JsonOption, waitFor } from "../../../kernel/kit/terminal.ts";
import { visibleLine } from "../../../kernel/kit/text.ts";
import { type CommandContext, Fault } from "../../../kernel/plugin.ts";
import type { McpServers } from "../../services.ts";
import type { NewMcpServer } from "../../wire.ts";
import { type McpServerInfo, McpServerInfo as ServerForm } from "../../wire.ts";
import { terminalPrompt } from "../terminal/prompt.ts";
import { print, progress } from "../terminal/terminal.ts";
import { describeTarget, describeTools } from "./describe.ts";
import { chooseListed, usage } from "./listed.ts";
import { interruptible, OPERATOR, type Services, withServers } from "./server-access.ts";
import { signIn } from "./sign-in.ts";

interface AddOptions extends JsonOption {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly token?: boolean;
  readonly perUser?: boolean;
  readonly yes?: boolean;
}

export async function add(
  context: CommandContext,
  typed: string | undefined,
  target: readonly string[],
  options: AddOptions,
  isCommand: boolean,
): Promise<void> {
  await withServers(context, async (servers, services) => {
    const listed =
      isCommand || (typed !== undefined && target.some(isUrl))
        ? undefined
        : await chooseListed(servers, typed, target, { env: options.env, path: services.toolHost.path });
    const name = listed?.name ?? typed ?? "";
    const given = await (listed === undefined
      ? readTarget(context, name, target, options, isCommand)
      : readTarget(context, name, listed.target, { ...options, ...listed.options }, listed.isCommand));
    if (listed?.isCommand === true)
      // Connecting runs it, and whoever wrote the list chose it.
      await agree(
        `Run "${visibleLine(listed.target.join(" "))}" on this machine, with your rights?`,
        options,
      );
    const privateHost = await agreeToPlace(given, services.toolHost.privateHosts, options);
    const kind = given.command === undefined ? "http" : "command";
    const address = given.url ?? given.command?.join(" ") ?? "";
    progress(`${name} is ${describeTarget({ kind, address })}.`);
    progress("connecting …");
    await interruptible(async (signal) => {
      // No tool runs without asking before the person has seen it.
      const adding = () => servers.add({ ...given, privateHost }, { user: OPERATOR, agree: false, signal });
      let server = await waitFor(`connecting to ${name}`, options, adding);
      try {
        if (server.status === "unauthenticated")
          server = await signInFirst(server, servers, services, signal);
        progress(`\n${describeTools(server.tools, { states: false })}`);
        await agree(question(server), options);
        server = await servers.agree(name, server.tools);
      } catch (error) {
        await servers.remove(name);
        throw error;
      }
      const runs = count(server.tools.filter(({ state }) => state === "runs").length);
      print(
        options,
        toWire(ServerForm, server),
        () => `Added ${name}. ${runs} may run without asking; change that with "postern mcp edit ${name}".`,
      );
    });
  });
}

async function readTarget(
  { folder }: CommandContext,
  name: string,
  target: readonly string[],
  { env, token = false, perUser = false }: AddOptions,
  isCommand: boolean,
): Promise<NewMcpServer> {
  const [url = "", ...rest] = target;
  const hasUrl = !isCommand && rest.length === 0 && isUrl(url);
  if (!isCommand && !hasUrl)
    throw usage(
      `"${target.join(" ")}" is not a URL; write -- before a command: postern mcp add ${name} -- ${target.join(" ")}`,
    );
  if (isCommand && (token || perUser))
    throw usage("--token and --per-user are for a URL; a command gets its secrets by --env");
  if (hasUrl && Object.keys(env).length > 0)
    throw usage("--env is for a command; a server with a URL gets no environment");
  const prompt = terminalPrompt();
  const ask = async (question: string): Promise<string> => {
    const value = (await prompt.secret(question))?.trim();
    if (value) return value;
    throw new Fault("invalid", "gave_up", "Cancelled; nothing was added.");
  };
  if (hasUrl) return { name, url, perUser, token: token ? await ask(`Token for ${name}`) : undefined };
  const values: Record<string, string> = {};
  for (const [variable, value] of Object.entries(env)) values[variable] = value ?? (await ask(variable));
  // The service starts it in another folder, so a path has to be absolute.
  const program = url.includes("/") ? resolve(folder, url) : url;
  return { name, command: [program, ...rest], env: values };
}

const PLACES: Readonly<Record<string, string>> = {
  loopback: "on this machine",
  private: "in the local network",
};

/** Asks once about a server that is not out in the world: plain http is for such alone. */
async function agreeToPlace(
  { url }: NewMcpServer,
  privateHosts: PrivateHosts,
  options: AddOptions,
): Promise<boolean> {
  const place = url === undefined ? null : URL.parse(url);
  if (place?.protocol !== "http:" || privateHosts.has(hostAndPort(place))) return false;
  const kind = await localKind(place);
  if (kind === undefined) return false;
  await agree(
    `${visibleLine(hostAndPort(place))} is ${PLACES[kind]}. Connect to it over plain http?`,
    options,
  );
  return true;
}

async function signInFirst(
  server: McpServerInfo,
  servers: McpServers,
  services: Services,
  signal: AbortSignal,
): Promise<McpServerInfo> {
  progress(`${server.name} wants you to sign in before it shows its tools.`);
  await signIn(server, services, { user: OPERATOR, signal });
  progress("connecting …");
  return servers.test(server.name, OPERATOR, signal);
}

function question({ name, tools }: McpServerInfo): string {
  const readOnly = tools.filter((tool) => tool.readOnly).length;
  const others = tools.length - readOnly;
  const reads = `${count(readOnly)} that it says only read${readOnly === 1 ? "s" : ""} may run without asking`;
  const parts = [
    ...(readOnly > 0 ? [reads] : []),
    ...(others > 0 ? [`${count(others)} will ask first`] : []),
  ];
  return `Add ${name}?${parts.length > 0 ? ` ${parts.join(", ")}.` : ""}`;
}

function count(tools: number): string {
  return `${tools} tool${tools === 1 ? "" : "s"}`;
}

function isUrl(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
}

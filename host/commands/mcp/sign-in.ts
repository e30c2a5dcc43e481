/** `mcp auth`: a sign-in in the browser, or a token; the credential is sealed and never shown. */
import type { JsonOption } from "../../../kernel/kit/terminal.ts";
import { type CommandContext, Fault } from "../../../kernel/plugin.ts";
import { gaveUp, signInByBrowser } from "../../secrets/browser-sign-in.ts";
import type { McpServerInfo } from "../../wire.ts";
import { terminalPrompt } from "../terminal/prompt.ts";
import { print, progress } from "../terminal/terminal.ts";
import { interruptible, type Services, withServer } from "./server-access.ts";

interface AuthOptions extends JsonOption {
  readonly user: string;
  readonly token?: boolean;
  readonly signOut?: boolean;
}

const HOW = { oauth: "by signing in", token: "with the token you entered" };

export async function auth(context: CommandContext, name: string, options: AuthOptions): Promise<void> {
  const { user, signOut = false } = options;
  await withServer(
    context,
    name,
    async (server, servers, services) => {
      if (signOut) {
        const isForgotten = await servers.signOut(name, user);
        print(options, { name, user, signed_out: isForgotten }, () =>
          isForgotten
            ? `The credential of ${name} is forgotten.`
            : `${name} has no credential${ofUser(server, user)}.`,
        );
        return;
      }
      const by = await interruptible((signal) => signIn(server, services, { ...options, signal }));
      print(
        options,
        { name, user: server.perUser ? user : null, by },
        () => `${name} can be used${ofUser(server, user)}, ${HOW[by]}.`,
      );
    },
    user,
  );
}

interface SignInOptions {
  readonly user: string;
  readonly token?: boolean;
  readonly signal: AbortSignal;
}

/** Asks for a token where the server describes no sign-in. */
export async function signIn(
  server: McpServerInfo,
  services: Services,
  options: SignInOptions,
): Promise<"oauth" | "token"> {
  const { name } = server;
  const { mcpServers } = services;
  if (options.token !== true) {
    try {
      await signInAtBrowser(name, services, options);
      return "oauth";
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== "no_sign_in" || server.kind !== "http") throw error;
      progress(`${name} describes no sign-in; it may take a token.`);
    }
  }
  await mcpServers.setToken(name, options.user, await askFor(`Token for ${name}`));
  return "token";
}

async function signInAtBrowser(
  name: string,
  { mcpServers, toolAdmin, toolHost }: Services,
  { user, signal }: SignInOptions,
): Promise<void> {
  const begin = async (redirectUri: string) => (await mcpServers.beginSignIn(name, user, redirectUri)).url;
  const back = await signInByBrowser({
    to: name,
    prompt: terminalPrompt(),
    signal,
    begin: (redirectUri) =>
      begin(redirectUri).catch(async (error: unknown) => {
        if (!(error instanceof Fault) || error.code !== "oauth_client_missing") throw error;
        const secret = await askFor(`Secret of the client that the file of ${name} names`);
        await (await toolHost.open()).foreign.servers.setClientSecret(name, secret);
        return begin(redirectUri);
      }),
  });
  await toolAdmin.finishSignIn(back);
}

async function askFor(question: string): Promise<string> {
  const value = await terminalPrompt().secret(question);
  if (value === undefined || value.trim() === "") throw gaveUp();
  return value;
}

function ofUser({ perUser }: McpServerInfo, user: string): string {
  return perUser ? ` by ${user}` : "";
}

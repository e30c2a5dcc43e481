/** What servers are signed in with, as the operator's view uses it. */
import type { ServerTarget } from "../../capabilities/servers/server-file.ts";
import type { SignInBrowser } from "../../kernel/kit.ts";
import { Fault, type McpServerInfo, type McpServers } from "../../kernel/plugin.ts";
import type { McpAccess } from "./sign-in/access.ts";
import type { Environments } from "./sign-in/environment.ts";
import type { McpTarget } from "./sign-in/target.ts";
import type { ServerRows, StoredServer } from "./tools/rows.ts";

export interface Credentials extends Pick<McpServers, "beginSignIn" | "setToken" | "signOut"> {
  standing(server: StoredServer, user: string): Promise<Pick<McpServerInfo, "signsIn" | "isSignedIn">>;
  setEnvironment(server: StoredServer, values: Readonly<Record<string, string>>): Promise<void>;
  /** Undefined where the address answers no sign-in of a server's. */
  finishSignIn(redirected: URL, browser?: SignInBrowser): Promise<{ readonly server: string } | undefined>;
  /** For the client that its file names. */
  setClientSecret(name: string, secret: string): Promise<void>;
  /** Of a server that is removed. */
  forget(server: StoredServer): Promise<void>;
}

/** A server with a URL as its credentials know it. */
export function credentialTarget(
  { name, file }: StoredServer,
  { credential, url }: Extract<ServerTarget, { type: "http" }>,
): McpTarget {
  const { answerBytes } = file.limits;
  return { name, url, perUser: credential.perUser, answerBytes, ...(credential.isNamed && { credential }) };
}

export function createCredentials(
  access: McpAccess,
  environments: Environments,
  rows: ServerRows,
): Credentials {
  async function target(name: string): Promise<McpTarget> {
    const server = await rows.find(name);
    if (server === undefined)
      throw new Fault("missing", "no_such_server", `There is no MCP server ${name}.`, { param: "name" });
    const { target: found } = server.file;
    if (found.type === "http") return credentialTarget(server, found);
    throw new Fault(
      "invalid",
      "no_sign_in",
      `${name} is a command: it gets its secrets as environment variables.`,
      { param: "name" },
    );
  }

  return {
    async standing(server, user) {
      const { target } = server.file;
      if (target.type === "command") return { signsIn: false, isSignedIn: true };
      const found = credentialTarget(server, target);
      return { signsIn: await access.signsIn(found, user), isSignedIn: await access.isSignedIn(found, user) };
    },
    setEnvironment: environments.set,
    async forget(server) {
      await environments.forget(server);
      await access.forget(server.name);
    },
    beginSignIn: async (name, user, redirectUri) => access.beginSignIn(await target(name), user, redirectUri),
    finishSignIn: (redirected, browser) => access.finishSignIn(redirected, target, browser),
    setClientSecret: async (name, secret) => void (await access.setClientSecret(await target(name), secret)),
    setToken: async (name, user, token) => void (await access.setToken(await target(name), user, token)),
    signOut: async (name, user) => access.signOut(await target(name), user),
  };
}

/** Gets a tool its credentials, for `tool auth` and `tool setup`; the command does the prompting. */
import type { AuthSetup, Capabilities, OAuthSetup } from "../capabilities/capabilities.ts";
import { Fault } from "../kernel/plugin.ts";
import { beginSignIn, finishSignIn, type SignIn } from "./broker/oauth.ts";
import type { OAuthOptions } from "./broker/token-request.ts";
import type { Catalog, InstalledTool } from "./catalog/catalog.ts";
import type { OwnSettings } from "./catalog/own-settings.ts";
import { gaveUp, type Prompt, signInByBrowser } from "./secrets/browser-sign-in.ts";
import { holderOf } from "./secrets/holder.ts";
import { type Secrets, type ToolVault, type Vault, warnOfShort } from "./secrets/secrets.ts";

export interface AuthorizeOptions extends Omit<OAuthOptions, "values"> {
  readonly tool: string;
  readonly capabilities: Capabilities;
  /** This tool and those that share its secret. */
  readonly tools: readonly Capabilities[];
  readonly vault: ToolVault;
  readonly environment: (name: string) => string | undefined;
  readonly prompt: Prompt;
  /** The address that the browser is sent back to, for example `{base_url}/oauth/callback`; a loopback port if absent. */
  readonly redirectUri?: string;
  readonly signal?: AbortSignal;
}

export interface Authorized {
  readonly by: "environment" | "shared" | "oauth" | "manual";
  readonly secret: string;
}

export function createAuthorization(
  parts: Pick<AuthorizeOptions, "network" | "privateHosts" | "environment"> & {
    readonly vault: Pick<Vault, "of" | "sharers">;
    readonly catalog: Pick<Catalog, "list">;
    readonly ownSettings: Pick<OwnSettings, "apply">;
  },
) {
  const { vault, network, privateHosts, environment, ownSettings } = parts;
  return {
    /** Gets the credential of a tool, for all users or for one: from the environment, by signing in, or from the person. */
    authorize: async (shared: InstalledTool, prompt: Prompt, user?: string) => {
      const tool = await ownSettings.apply(shared, user);
      return authorizeTool({
        tool: tool.name,
        capabilities: tool.capabilities,
        tools: await toolsSharing(parts, tool, tool.capabilities.auth?.secretName ?? ""),
        vault: vault.of(holderOf(tool)),
        network,
        privateHosts,
        // What is in the environment is for all users.
        environment: user === undefined ? environment : () => undefined,
        prompt,
      });
    },
    async setUp(shared: InstalledTool, prompt: Prompt, user?: string) {
      const tool = await ownSettings.apply(shared, user);
      const { secrets } = vault.of(holderOf(tool));
      return setUpTool({ capabilities: tool.capabilities, secrets, prompt });
    },
  };
}

/** Lists what a tool may do, and then those that its secret is shared with. */
export async function toolsSharing(
  { vault, catalog }: { readonly vault: Pick<Vault, "sharers">; readonly catalog: Pick<Catalog, "list"> },
  tool: InstalledTool,
  secret: string,
): Promise<readonly Capabilities[]> {
  const sharers = await vault.sharers(tool.name, secret);
  const others = (await catalog.list()).filter(({ name }) => sharers.includes(name));
  return [tool, ...others].map(({ capabilities }) => capabilities);
}

/** In the order of the specification: the environment, then OAuth, then a value entered by hand. */
export async function authorizeTool(options: AuthorizeOptions): Promise<Authorized> {
  const { tool, capabilities, environment, prompt, vault } = options;
  const { auth } = capabilities;
  if (auth === undefined) {
    const also = secretsToEnter(capabilities).length > 0 ? ` Run "postern tool setup ${tool}" instead.` : "";
    throw new Fault("invalid", "no_auth", `${tool} does not use sign-in.${also}`);
  }
  const secret = auth.secretName;
  if (auth.envVar !== undefined && environment(auth.envVar)) {
    prompt.say(`${auth.envVar} is set in the environment and will be used for ${auth.displayName}.`);
    sayIfAny(prompt, warnOfShort(auth.envVar, environment(auth.envVar) ?? ""));
    return { by: "environment", secret };
  }
  if (await sharesExisting(vault.secrets, secret, prompt)) return { by: "shared", secret };
  if (auth.oauth !== undefined) {
    await signIn(options, auth, auth.oauth);
    prompt.say(`Signed in to ${auth.displayName}.`);
    return { by: "oauth", secret };
  }
  await enterByHand(auth, vault.secrets, prompt);
  prompt.say(`The credential for ${auth.displayName} is stored.`);
  return { by: "manual", secret };
}

/** Asks for `setup.required_secrets` and for credentials that no sign-in provides; returns the names that were set. */
export async function setUpTool(options: {
  readonly capabilities: Capabilities;
  readonly secrets: Secrets;
  readonly prompt: Prompt;
}): Promise<readonly string[]> {
  const { capabilities, secrets, prompt } = options;
  const entered: string[] = [];
  for (const { name, question, isRequired } of secretsToEnter(capabilities)) {
    if (await sharesExisting(secrets, name, prompt)) {
      entered.push(name);
      continue;
    }
    const isSet = (await secrets.standing(name)).type === "usable";
    const hint = isSet
      ? " (leave empty to keep the current one)"
      : isRequired
        ? ""
        : " (leave empty for none)";
    const value = await prompt.secret(question + hint);
    if (value === undefined) throw gaveUp();
    if (value.trim() === "" && (isSet || !isRequired)) continue;
    sayIfAny(prompt, (await secrets.set(name, value)).warning);
    entered.push(name);
  }
  return entered;
}

/** A secret that was given to another tool, version or host is used only where the person agrees; else it is asked for anew. */
async function sharesExisting(secrets: Secrets, name: string, prompt: Prompt): Promise<boolean> {
  const standing = await secrets.standing(name);
  if (standing.type !== "asks" || !(await prompt.agrees(standing.question))) return false;
  await secrets.share(name);
  return true;
}

/** Whether calls need this secret: if several credentials use it, one that is not optional is enough. */
export function isNeeded({ http, requiredSecrets }: Capabilities, secret: string): boolean {
  const uses = (http?.credentials ?? []).filter(({ secretName }) => secretName === secret);
  const isRequired = requiredSecrets.some(({ name }) => name === secret);
  return isRequired || uses.length === 0 || uses.some(({ isOptional }) => !isOptional);
}

/** Lists the secrets that a person can enter for a tool beside its sign-in: those it requires, and credentials that nothing else provides. */
export function secretsToEnter(
  capabilities: Capabilities,
): { name: string; question: string; isRequired: boolean }[] {
  const { requiredSecrets, http, auth } = capabilities;
  const required = requiredSecrets.map(({ name, prompt }) => ({ name, question: prompt, isRequired: true }));
  const covered = new Set([...required.map(({ name }) => name), auth?.secretName]);
  const others = new Set((http?.credentials ?? []).map(({ secretName }) => secretName));
  return [
    ...required,
    ...[...others]
      .filter((name) => !covered.has(name))
      .map((name) => ({ name, question: name, isRequired: isNeeded(capabilities, name) })),
  ];
}

async function enterByHand(auth: AuthSetup, secrets: Secrets, prompt: Prompt): Promise<void> {
  if (auth.instructions !== "") prompt.say(auth.instructions);
  if (auth.setupUrl !== undefined) prompt.say(`Get it at ${auth.setupUrl}`);
  if (auth.tokenHint !== undefined) prompt.say(`Hint: ${auth.tokenHint}`);
  const value = await prompt.secret(`${auth.displayName} token`);
  if (value === undefined) throw gaveUp();
  assertToken(auth, auth.secretName, value);
  sayIfAny(prompt, (await secrets.set(auth.secretName, value)).warning);
}

/** Refuses what does not begin as the tool's author says that tokens do: most often something else was pasted. */
export function assertToken(auth: AuthSetup | undefined, secret: string, value: string): void {
  const [, prefix] =
    /\b(?:starts|begins|beginning|starting) with [`"']?([\w-]{2,})/i.exec(auth?.tokenHint ?? "") ?? [];
  if (auth?.secretName !== secret || prefix === undefined || value.trim().startsWith(prefix)) return;
  throw new Fault(
    "invalid",
    "not_a_token",
    `This is no token for ${auth.displayName}: one begins with ${prefix}. Nothing was saved.`,
    { param: "value" },
  );
}

function sayIfAny(prompt: Prompt, warning: string | undefined): void {
  if (warning !== undefined) prompt.say(warning);
}

async function signIn(options: AuthorizeOptions, auth: AuthSetup, setup: OAuthSetup): Promise<void> {
  const { vault, network, privateHosts, tools, prompt, redirectUri, signal } = options;
  const { values } = vault;
  let begun: SignIn | undefined;
  const answer = await signInByBrowser({
    to: auth.displayName,
    prompt,
    redirectUri,
    signal,
    async begin(comesBackTo) {
      begun = await beginSignIn({
        values,
        privateHosts,
        secretName: auth.secretName,
        setup,
        tools,
        redirectUri: comesBackTo,
      });
      return begun.url;
    },
  });
  if (begun !== undefined) await finishSignIn({ values, network, privateHosts }, begun, answer);
}

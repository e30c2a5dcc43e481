/** Sign-ins that Docker and its relatives keep in a file. Commands that the file names are never run. */

import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { Fault, reason } from "../../../kernel/plugin.ts";
import type { Login } from "./logins.ts";
import type { KnownLogin } from "./registry.ts";

const MAX_CHARS = 1024 * 1024;

interface DockerConfig {
  readonly auths?: Readonly<Record<string, DockerAuth>>;
  readonly credHelpers?: Readonly<Record<string, string>>;
  readonly credsStore?: string;
}

interface DockerAuth {
  readonly auth?: string;
  readonly username?: string;
  readonly password?: string;
  readonly identitytoken?: string;
}

export async function readDockerLogin(registry: string, folder: string | undefined): Promise<KnownLogin> {
  const file = join(folder ?? join(homedir(), ".docker"), "config.json");
  const config = await readConfig(file);
  if (config === undefined) return {};
  const names = namesOf(registry);
  const auths = config.auths ?? {};
  const name = names.find((one) => Object.hasOwn(auths, one));
  const login = name === undefined ? undefined : readAuth(auths[name] ?? {});
  if (login !== undefined) return { login };
  const helper = names
    .map((one) => (Object.hasOwn(config.credHelpers ?? {}, one) ? config.credHelpers?.[one] : undefined))
    .find((one) => one !== undefined);
  // The store is asked about registries that were signed in to, which are listed without a value.
  const store = name === undefined ? undefined : config.credsStore;
  const command = helper ?? store;
  return command === undefined ? {} : { helper: `docker-credential-${command}` };
}

async function readConfig(file: string): Promise<DockerConfig | undefined> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new Fault("invalid", "docker_config", `${file} cannot be read: ${reason(error)}`);
  }
  try {
    const config: unknown = text.length > MAX_CHARS ? undefined : JSON.parse(text);
    if (typeof config === "object" && config !== null) return config as DockerConfig;
  } catch {
    // Said below, without what is in the file.
  }
  throw new Fault(
    "invalid",
    "docker_config",
    `${file} is not a Docker credentials file: it is not a JSON object`,
  );
}

function readAuth({ auth, username, password, identitytoken }: DockerAuth): Login | undefined {
  const [user, ...rest] = auth === undefined ? [] : Buffer.from(auth, "base64").toString("utf8").split(":");
  const name = username ?? user ?? "";
  if (identitytoken !== undefined && identitytoken !== "")
    return { username: name, password: identitytoken, isIdentityToken: true };
  const secret = password ?? rest.join(":");
  return name === "" || secret === "" ? undefined : { username: name, password: secret };
}

/** As the file may write it; Docker's own registry has an address of its own there. */
function namesOf(registry: string): readonly string[] {
  const plain = [registry, `https://${registry}`, `https://${registry}/`, `http://${registry}`];
  return registry === "docker.io" ? [...plain, "https://index.docker.io/v1/", "index.docker.io"] : plain;
}

/** Registries, opened with the sign-in that is known for each: given to `postern registry login`, or to Docker. */

import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { PrivateHosts } from "../../../kernel/kit/outbound.ts";
import { isRecord, tryJson } from "../../../kernel/kit/text.ts";
import { Fault, reason } from "../../../kernel/plugin.ts";
import type { Downloads } from "../download.ts";
import type { OciReference } from "../reference.ts";
import type { Login, Logins } from "./logins.ts";
import { type KnownLogin, openRegistry, type Registry } from "./registry.ts";

export type OpenRegistry = (
  reference: Pick<OciReference, "registry" | "repository">,
  access: "pull" | "pull,push",
  login?: Login,
) => Registry;

export function createRegistryAccess(options: {
  readonly downloads: Downloads;
  readonly privateHosts: PrivateHosts;
  readonly logins: Pick<Logins, "find">;
  readonly dockerFolder: string | undefined;
}): OpenRegistry {
  const { logins, dockerFolder, ...rest } = options;
  return ({ registry, repository }, access, given) =>
    openRegistry({
      ...rest,
      registry,
      repository,
      access,
      login: async () => {
        const own = given ?? (await logins.find(registry));
        return own === undefined ? readDockerLogin(registry, dockerFolder) : { login: own };
      },
    });
}

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

async function readDockerLogin(registry: string, folder: string | undefined): Promise<KnownLogin> {
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
  const config = text.length > MAX_CHARS ? undefined : tryJson(text);
  if (isRecord(config)) return config;
  const message = `${file} is not a Docker credentials file: it is not a JSON object`;
  throw new Fault("invalid", "docker_config", message);
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

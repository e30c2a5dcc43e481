/** Registries, opened with the sign-in that is known for each: given to `postern registry login`, or to Docker. */
import type { PrivateHosts } from "../../../kernel/kit.ts";
import type { Downloads } from "../download.ts";
import type { OciReference } from "../reference.ts";
import { readDockerLogin } from "./docker-config.ts";
import type { Login, Logins } from "./logins.ts";
import { openRegistry, type Registry } from "./registry.ts";

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

/** The values of the environment variables that commands get, which are sealed because most of them are secrets. */

import { type SealingKey, seal, unseal } from "../../../kernel/kit/secrets.ts";
import { Fault, type Keyed } from "../../../kernel/plugin.ts";
import type { Vault } from "../../secrets/secrets.ts";
import type { StoredServer } from "../tools/rows.ts";
import { toolOf } from "./target.ts";

export type Environments = ReturnType<typeof createEnvironments>;

/** Paths and languages are no secrets: hidden everywhere, they would make logs and tools' traffic unreadable. */
const PLAIN =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|PWD|TERM|TZ|LANG|LANGUAGE|LC_\w+|TMPDIR|TEMP|TMP|XDG_\w+|NODE_ENV|NODE_PATH|PYTHONPATH|DEBUG|LOG_LEVEL)$/;

export function createEnvironments(vault: Vault, keyed: Keyed<string>, key: SealingKey) {
  const valuesOf = ({ name }: StoredServer) =>
    vault.of({ tool: toolOf(name), digest: "command", hostsOf: () => [] }).values;
  const secretOf = (name: string) => `mcp:env:${name}`;
  const placeOf = ({ id }: StoredServer, name: string) => `${id}/${name}`;

  async function find(server: StoredServer, name: string): Promise<string | undefined> {
    if (!PLAIN.test(name)) return (await valuesOf(server).read(secretOf(name)))?.value;
    const sealed = await keyed.get(placeOf(server, name));
    return sealed === undefined ? undefined : unseal(key, placeOf(server, name), sealed);
  }

  return {
    async set(server: StoredServer, values: Readonly<Record<string, string>>): Promise<void> {
      for (const [name, value] of Object.entries(values)) {
        if (!PLAIN.test(name)) await valuesOf(server).write(secretOf(name), { value });
        else await keyed.set(placeOf(server, name), seal(key, placeOf(server, name), value));
      }
    },
    async read(server: StoredServer): Promise<Readonly<Record<string, string>>> {
      const found = await Promise.all(
        namesOf(server).map(async (name) => [name, await find(server, name)] as const),
      );
      const missing = found.flatMap(([name, value]) => (value === undefined ? [name] : []));
      if (missing.length > 0) {
        const message = `${missing.join(", ")} has no value. Remove the server and add it again with --env ${missing[0]}=…`;
        throw new Fault("unauthenticated", "no_value", message);
      }
      return Object.fromEntries(found.map(([name, value]) => [name, value ?? ""]));
    },
    async forget(server: StoredServer): Promise<void> {
      await Promise.all(namesOf(server).map((name) => keyed.delete(placeOf(server, name))));
    },
  };
}

function namesOf({ file: { target } }: StoredServer): readonly string[] {
  return target.type === "command" ? target.env : [];
}

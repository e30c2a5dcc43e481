/** The values of the environment variables that commands get: sealed, like secrets, because most of them are. */

import type Keyv from "keyv";
import { type SealingKey, seal, unseal } from "../../../kernel/kit.ts";
import type { Mask } from "../../../kernel/plugin.ts";
import type { Vault } from "../../secrets/secrets.ts";
import { ConnectionFailed } from "../session/failure.ts";
import type { StoredServer } from "../tools/rows.ts";
import { toolOf } from "./target.ts";

export interface Environments {
  set(server: StoredServer, values: Readonly<Record<string, string>>): Promise<void>;
  /** Of all that its file names; rejects with a `ConnectionFailed` where one has no value. */
  read(server: StoredServer): Promise<Readonly<Record<string, string>>>;
  forget(server: StoredServer): Promise<void>;
}

/** Where programs are and how they talk is no secret: hidden everywhere, it would make logs and tools' traffic unreadable. */
const PLAIN =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|PWD|TERM|TZ|LANG|LANGUAGE|LC_\w+|TMPDIR|TEMP|TMP|XDG_\w+|NODE_ENV|NODE_PATH|PYTHONPATH|DEBUG|LOG_LEVEL)$/;

export function createEnvironments(options: {
  readonly vault: Vault;
  readonly keyed: Keyv<string>;
  readonly key: SealingKey;
  readonly mask: Mask;
}): Environments {
  const { vault, keyed, key } = options;
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
    async set(server, values) {
      for (const [name, value] of Object.entries(values)) {
        if (!PLAIN.test(name)) await valuesOf(server).write(secretOf(name), { value });
        else await keyed.set(placeOf(server, name), seal(key, placeOf(server, name), value));
      }
    },
    async read(server) {
      const { target } = server.file;
      const names = target.type === "command" ? target.env : [];
      const found = await Promise.all(names.map(async (name) => [name, await find(server, name)] as const));
      const missing = found.flatMap(([name, value]) => (value === undefined ? [name] : []));
      if (missing.length > 0)
        throw new ConnectionFailed(
          "unauthenticated",
          `${missing.join(", ")} has no value. Remove the server and add it again with --env ${missing[0]}=…`,
        );
      return Object.fromEntries(found.map(([name, value]) => [name, value ?? ""]));
    },
    async forget(server) {
      const { target } = server.file;
      const names = target.type === "command" ? target.env : [];
      await Promise.all(names.map((name) => keyed.delete(placeOf(server, name))));
    },
  };
}

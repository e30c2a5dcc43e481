/**
 * Secrets at rest, each sealed in the keyed store under the tool it was set for. Another tool that names the same secret, another
 * version of the tool, or other hosts get it only after a person has agreed. Of a tool's there are two faces: `secrets` for
 * commands, which can set a value but never read one, and `values`, which only the broker's side gets.
 */

import { randomUUID } from "node:crypto";
import { canBeHidden, SHORTEST } from "../../kernel/kit/secrets.ts";
import { Fault } from "../../kernel/plugin.ts";
import { covers, type Entry, parsePlace, placeOf, recordOf, type SecretRecord, where } from "./entry.ts";
import type { Holder } from "./holder.ts";
import { openSealed, type SealedParts } from "./sealed.ts";

export interface Secrets {
  standing(name: string): Promise<Standing>;
  share(name: string): Promise<void>;
  /** Trims the value, since a pasted token often carries a line break; an empty one is a fault. */
  set(name: string, value: string): Promise<SecretSet>;
  remove(name: string): Promise<boolean>;
}

/** Says if the tool has it; `asks`: there is one, and a person has to agree to this sentence first. */
export type Standing =
  | { readonly type: "usable" }
  | { readonly type: "missing" }
  | { readonly type: "asks"; readonly question: string };

export interface SecretSet {
  /** For the person who set it: the value is stored, but cannot be hidden. */
  readonly warning?: string;
}

/** Readable values of one tool: for the broker and for OAuth's refresh alone. */
export interface SecretValues {
  read(name: string): Promise<SecretRecord | undefined>;
  write(name: string, record: SecretRecord): Promise<void>;
  /** Writes a renewed one where the old one is: with the tool that shares it, if it is shared. */
  renew(name: string, record: SecretRecord): Promise<void>;
}

export type ToolVault = ReturnType<Vault["of"]>;

export type Vault = Awaited<ReturnType<typeof openVault>>;

/** Registers every stored value with the mask before it returns, so that no later log line can show one. */
export async function openVault(parts: SealedParts) {
  const sealed = openSealed(parts);
  const { places, find, findIfReadable, put } = sealed;

  async function ownersOf(name: string): Promise<string[]> {
    const owners: string[] = [];
    for (const place of await places()) {
      const { tool, secret } = parsePlace(place);
      if (secret === name && (await findIfReadable(place))?.value !== undefined) owners.push(tool);
    }
    return owners.sort();
  }

  function open(holder: Holder): { readonly secrets: Secrets; readonly values: SecretValues } {
    const { tool } = holder;
    const termsOf = (name: string) => ({ digest: holder.digest, hosts: holder.hostsOf(name) });
    const holds = (entry: Entry | undefined, name: string): entry is Entry =>
      entry !== undefined && covers(entry.use, termsOf(name));

    async function read(name: string): Promise<SecretRecord | undefined> {
      const entry = await find(placeOf(tool, name));
      if (!holds(entry, name)) return undefined;
      return recordOf(entry.from === undefined ? entry : await followed(entry.from, name));
    }

    async function followed({ tool: owner, id }: NonNullable<Entry["from"]>, name: string) {
      const theirs = await find(placeOf(owner, name));
      return theirs?.id === id ? theirs : undefined;
    }

    const values: SecretValues = {
      read,
      async write(name, record) {
        const before = await findIfReadable(placeOf(tool, name));
        const id = holds(before, name) ? (before.id ?? randomUUID()) : randomUUID();
        await put(placeOf(tool, name), { ...record, id, use: termsOf(name) });
      },
      async renew(name, record) {
        const entry = await find(placeOf(tool, name));
        const place = placeOf(entry?.from?.tool ?? tool, name);
        const { value: _, oauth: __, ...rest } = (await find(place)) ?? { use: termsOf(name) };
        await put(place, { ...rest, ...record });
      },
    };

    return {
      values,
      secrets: {
        async standing(name) {
          if ((await read(name)) !== undefined) return { type: "usable" };
          const own = await find(placeOf(tool, name));
          const [owner] = await ownersOf(name);
          const hosts = where(holder.hostsOf(name));
          if (own?.value !== undefined)
            return {
              type: "asks",
              question: `\`${name}\` was given to another version of ${tool}, which sent it to ${where(own.use.hosts)}. This version sends it to ${hosts}. Let it use \`${name}\`?`,
            };
          if (owner === undefined) return { type: "missing" };
          const theirs = await find(placeOf(owner, name));
          return {
            type: "asks",
            question: `\`${name}\` was set for ${owner}, which sends it to ${where(theirs?.use.hosts ?? [])}. Let ${tool} use it too? It sends it to ${hosts}.`,
          };
        },
        async share(name) {
          const place = placeOf(tool, name);
          const own = await find(place);
          const [owner] = await ownersOf(name);
          if (own?.value !== undefined) return put(place, { ...own, use: termsOf(name) });
          if (owner === undefined) throw new Fault("missing", "no_secret", `There is no secret ${name}.`);
          const id = (await find(placeOf(owner, name)))?.id;
          await put(place, { from: { tool: owner, id }, use: termsOf(name) });
        },
        async set(name, value) {
          const trimmed = value.trim();
          if (trimmed === "")
            throw new Fault("invalid", "secret_empty", `The value for the secret ${name} is empty.`, {
              param: name,
            });
          await values.write(name, { value: trimmed });
          const warning = warnOfShort(name, trimmed);
          return warning === undefined ? {} : { warning };
        },
        remove: (name) => sealed.remove(placeOf(tool, name)),
      },
    };
  }

  async function entriesOf(tool: string): Promise<[string, Entry][]> {
    const found: [string, Entry][] = [];
    for (const place of await places()) {
      const parsed = parsePlace(place);
      const entry = parsed.tool === tool ? await findIfReadable(place) : undefined;
      if (entry !== undefined) found.push([parsed.secret, entry]);
    }
    return found;
  }

  await sealed.known();
  return {
    of: open,
    known: sealed.known,
    /** Names of the secrets that this version of a tool uses. */
    async heldBy(holder: Holder): Promise<readonly string[]> {
      const held = (await entriesOf(holder.tool)).filter(([name, { use }]) =>
        covers(use, { digest: holder.digest, hosts: holder.hostsOf(name) }),
      );
      return held.map(([name]) => name).sort();
    },
    /** The tools that use this tool's secret. */
    async sharers(tool: string, name: string): Promise<readonly string[]> {
      const shared: string[] = [];
      for (const place of await places()) {
        const parsed = parsePlace(place);
        if (parsed.secret === name && (await findIfReadable(place))?.from?.tool === tool)
          shared.push(parsed.tool);
      }
      return shared;
    },
    /** After a replacement that a person agreed to: what the old version had the new one has. */
    async pass(from: Holder, to: Holder): Promise<void> {
      for (const [name, entry] of await entriesOf(from.tool)) {
        const had = covers(entry.use, { digest: from.digest, hosts: from.hostsOf(name) });
        if (!had) continue;
        await put(placeOf(to.tool, name), { ...entry, use: { digest: to.digest, hosts: to.hostsOf(name) } });
      }
    },
    async forget(tool: string): Promise<void> {
      for (const place of await places()) if (parsePlace(place).tool === tool) await sealed.remove(place);
    },
  };
}

export function warnOfShort(name: string, value: string): string | undefined {
  if (canBeHidden(value)) return undefined;
  return `\`${name}\` is too short to be hidden: a value under ${SHORTEST} characters is not masked in logs, in what a model reads or in a tool's traffic. Use a longer one if you can.`;
}

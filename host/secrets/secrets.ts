/**
 * Secrets at rest, each sealed in the keyed store under the tool it was set for. Another tool that names the same secret, another
 * version of the tool, or other hosts get it only after a person has agreed. Of a tool's there are two faces: `secrets` for
 * commands, which can set a value but never read one, and `values`, which only the broker's side gets.
 */

import { randomUUID } from "node:crypto";
import { canBeHidden, type Mask, type SealingKey, SHORTEST, seal, unseal } from "../../kernel/kit/secrets.ts";
import { Fault, type Keyed } from "../../kernel/plugin.ts";
import {
  covers,
  type Entry,
  hiddenEverywhere,
  parsePlace,
  placeOf,
  recordOf,
  type SecretRecord,
  where,
} from "./entry.ts";
import type { Holder } from "./holder.ts";

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

/** Readable values of one tool: for the broker and for OAuth's refresh, nobody else. */
export interface SecretValues {
  read(name: string): Promise<SecretRecord | undefined>;
  write(name: string, record: SecretRecord): Promise<void>;
  /** Writes a renewed one where the old one is: with the tool that shares it, if it is shared. */
  renew(name: string, record: SecretRecord): Promise<void>;
}

export type ToolVault = ReturnType<Vault["of"]>;

export type Vault = Awaited<ReturnType<typeof openVault>>;

/** Registers every stored value with the mask before it returns, so that no later log line can show one. */
export async function openVault(options: {
  readonly keyed: Keyed<string>;
  /** Another text after each change of what is stored, where it can be had. */
  readonly version?: (() => string) | undefined;
  readonly key: SealingKey;
  readonly mask: Mask;
  /** A value is stored that others on the store have not masked yet. */
  readonly onSet?: () => Promise<void>;
}) {
  const { keyed, version, key, mask, onSet } = options;
  /** By sealed text: another process may have changed what is in the store. */
  let opened = new Map<string, Entry>();
  let known: readonly string[] = [];
  let readAt: string | undefined;

  function reveal(place: string, sealed: string): Entry {
    const cached = opened.get(sealed);
    if (cached !== undefined) return cached;
    const entry = JSON.parse(unseal(key, place, sealed)) as Entry;
    for (const value of hiddenEverywhere(place, entry)) mask.add(value);
    opened.set(sealed, entry);
    return entry;
  }

  async function all(): Promise<[string, string][]> {
    const entries: [string, string][] = [];
    for await (const [place, sealed] of keyed.iterator()) entries.push([place, sealed]);
    return entries;
  }

  async function find(place: string): Promise<Entry | undefined> {
    const sealed = await keyed.get(place);
    return sealed === undefined ? undefined : reveal(place, sealed);
  }

  /** An entry that was sealed with another key is skipped where nobody asked for it. */
  async function findIfReadable(place: string): Promise<Entry | undefined> {
    try {
      return await find(place);
    } catch (error) {
      if (error instanceof Fault) return undefined;
      throw error;
    }
  }

  async function put(place: string, entry: Entry): Promise<void> {
    for (const value of hiddenEverywhere(place, entry)) mask.add(value);
    await keyed.set(place, seal(key, place, JSON.stringify(entry)));
    await onSet?.();
  }

  /** Every value and refresh token that is looked for in all traffic. The same array while nothing has changed. */
  async function readKnown(): Promise<readonly string[]> {
    const now = version?.();
    if (now !== undefined && now === readAt) return known;
    const entries = new Map<string, Entry>();
    const found: string[] = [];
    for (const [place, sealed] of await all()) {
      try {
        const entry = reveal(place, sealed);
        if (!entries.has(sealed)) found.push(...hiddenEverywhere(place, entry));
        entries.set(sealed, entry);
      } catch (error) {
        // A value that cannot be opened cannot leak either; whoever asks for it by name is told.
        if (!(error instanceof Fault)) throw error;
      }
    }
    opened = entries;
    if (found.length !== known.length || found.some((value, index) => value !== known[index])) known = found;
    readAt = now;
    return known;
  }

  async function ownersOf(name: string): Promise<string[]> {
    const owners: string[] = [];
    for (const [place] of await all()) {
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
        remove: (name) => keyed.delete(placeOf(tool, name)),
      },
    };
  }

  async function entriesOf(tool: string): Promise<[string, Entry][]> {
    const found: [string, Entry][] = [];
    for (const [place] of await all()) {
      const parsed = parsePlace(place);
      const entry = parsed.tool === tool ? await findIfReadable(place) : undefined;
      if (entry !== undefined) found.push([parsed.secret, entry]);
    }
    return found;
  }

  await readKnown();
  return {
    of: open,
    known: readKnown,
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
      for (const [place] of await all()) {
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
      for (const [place] of await all()) if (parsePlace(place).tool === tool) await keyed.delete(place);
    },
  };
}

export function warnOfShort(name: string, value: string): string | undefined {
  if (canBeHidden(value)) return undefined;
  return `\`${name}\` is too short to be hidden: a value under ${SHORTEST} characters is not masked in logs, in what a model reads or in a tool's traffic. Use a longer one if you can.`;
}

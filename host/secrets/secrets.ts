/**
 * Secrets at rest, each sealed in the keyed store under the tool it was set for. Another tool that names the same secret, another
 * version of the tool, or other hosts get it only after a person has agreed. Of a tool's there are two faces: `secrets` for
 * commands, which can set a value but never read one, and `values`, which only the broker's side gets.
 */

import { randomUUID } from "node:crypto";
import { canBeHidden, SHORTEST } from "../../kernel/kit/secrets.ts";
import { Fault } from "../../kernel/plugin.ts";
import {
  covers,
  type Entry,
  isOf,
  isSame,
  isServers,
  nameFor,
  parseName,
  parsePlace,
  placeOf,
  recordOf,
  type SecretRecord,
  where,
} from "./entry.ts";
import type { Holder } from "./holder.ts";
import { openSealed, type SealedParts } from "./sealed.ts";

/** Limits on the secrets that one user sets for themselves. */
const MAX_OWN_BYTES = 4096;
const MAX_OWN = 20;

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
  /** The user's own before what all users share. */
  read(name: string): Promise<SecretRecord | undefined>;
  /** What the user has for themselves, if the holder is one user. */
  readOwn(name: string): Promise<SecretRecord | undefined>;
  write(name: string, record: SecretRecord): Promise<void>;
  /** Replaces a secret wherever the old one is stored, the user's own or a shared one. Does nothing if that is gone. */
  renew(name: string, old: SecretRecord, record: SecretRecord): Promise<void>;
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

  async function assertRoom(place: string, user: string): Promise<void> {
    const own = (await places()).filter((each) => {
      const { tool, secret } = parsePlace(each);
      return !isServers(tool) && isOf(secret, user);
    });
    if (own.length < MAX_OWN || own.includes(place)) return;
    const message = `A user may have ${MAX_OWN} secrets of tools of their own, and has them. Delete one first; nothing was saved.`;
    throw new Fault("invalid", "too_many_secrets", message);
  }

  function open(holder: Holder): { readonly secrets: Secrets; readonly values: SecretValues } {
    const { tool, user } = holder;
    /** Where it is written: what one user sets is theirs alone. */
    const placeFor = (name: string) => placeOf(tool, nameFor(name, user));
    const termsOf = (name: string) => ({ digest: holder.digest, hosts: holder.hostsOf(name) });
    const holds = (entry: Entry | undefined, name: string): entry is Entry =>
      entry !== undefined && covers(entry.use, termsOf(name));

    async function readAt(place: string, name: string): Promise<SecretRecord | undefined> {
      const entry = await find(place);
      if (!holds(entry, name)) return undefined;
      return recordOf(entry.from === undefined ? entry : await followed(entry.from, name));
    }

    const readOwn = async (name: string) => (user === undefined ? undefined : readAt(placeFor(name), name));

    const read = async (name: string) =>
      (await readOwn(name)) ?? (holder.ownOnly ? undefined : await readAt(placeOf(tool, name), name));

    async function followed({ tool: owner, id }: NonNullable<Entry["from"]>, name: string) {
      const theirs = await find(placeOf(owner, name));
      return theirs?.id === id ? theirs : undefined;
    }

    const values: SecretValues = {
      read,
      readOwn,
      async write(name, record) {
        const place = placeFor(name);
        if (user !== undefined) await assertRoom(place, user);
        const before = await findIfReadable(place);
        const id = holds(before, name) ? (before.id ?? randomUUID()) : randomUUID();
        await put(place, { ...record, id, use: termsOf(name) });
      },
      async renew(name, old, record) {
        const { from } = (await findIfReadable(placeOf(tool, name))) ?? {};
        for (const place of new Set([placeFor(name), placeOf(from?.tool ?? tool, name)])) {
          const entry = await findIfReadable(place);
          if (entry === undefined || !isSame(entry, old)) continue;
          const { value: _, oauth: __, ...rest } = entry;
          return put(place, { ...rest, ...record });
        }
      },
    };

    return {
      values,
      secrets: {
        async standing(name) {
          if ((await read(name)) !== undefined) return { type: "usable" };
          const own = await find(placeFor(name));
          // One user agrees to nothing about what all share: that is the operator's.
          const [owner] = user === undefined ? await ownersOf(name) : [];
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
          const place = placeFor(name);
          const own = await find(place);
          const [owner] = user === undefined ? await ownersOf(name) : [];
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
          if (user !== undefined && Buffer.byteLength(trimmed) > MAX_OWN_BYTES) {
            const message = `The value for the secret ${name} is longer than ${MAX_OWN_BYTES} bytes, the most that a user's own may have. Nothing was saved.`;
            throw new Fault("invalid", "secret_too_long", message, { param: name });
          }
          await values.write(name, { value: trimmed });
          const warning = warnOfShort(name, trimmed);
          return warning === undefined ? {} : { warning };
        },
        remove: (name) => sealed.remove(placeFor(name)),
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
      const held = (await entriesOf(holder.tool)).filter(([secret, entry]) => isHeld(holder, secret, entry));
      return [...new Set(held.map(([secret]) => parseName(secret).name))].sort();
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
      for (const [secret, entry] of await entriesOf(from.tool)) {
        if (!isHeld(from, secret, entry)) continue;
        const { name, isOwn } = parseName(secret);
        // A user's own may go to a server that the user chose, which no setting for all names.
        const hosts = [...new Set([...to.hostsOf(name), ...(isOwn ? entry.use.hosts : [])])];
        await put(placeOf(to.tool, secret), { ...entry, use: { digest: to.digest, hosts } });
      }
    },
    /** Everything that the user had set for themselves, for tools and MCP servers. */
    async forgetUser(user: string): Promise<void> {
      for (const place of await places())
        if (isOf(parsePlace(place).secret, user)) await sealed.remove(place);
    },
    /** What users have for themselves; what all share stays for a tool that is installed again. */
    async forgetOwn(tool: string): Promise<void> {
      for (const place of await places()) {
        const parsed = parsePlace(place);
        if (parsed.tool === tool && parseName(parsed.secret).isOwn) await sealed.remove(place);
      }
    },
    async forget(tool: string): Promise<void> {
      for (const place of await places()) if (parsePlace(place).tool === tool) await sealed.remove(place);
    },
  };
}

/** Given to this version; for what all users share, also for every host that it names. */
function isHeld(holder: Holder, secret: string, { use }: Entry): boolean {
  const { name, isOwn } = parseName(secret);
  return covers(use, { digest: holder.digest, hosts: isOwn ? [] : holder.hostsOf(name) });
}

export function warnOfShort(name: string, value: string): string | undefined {
  if (canBeHidden(value)) return undefined;
  return `\`${name}\` is too short to be hidden: a value under ${SHORTEST} characters is not masked in logs, in what a model reads or in a tool's traffic. Use a longer one if you can.`;
}

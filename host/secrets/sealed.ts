/** The entries of the keyed store, sealed there and open here; every value in them is masked before it is used. */
import { type Mask, type SealingKey, seal, unseal } from "../../kernel/kit/secrets.ts";
import { Fault, type Keyed } from "../../kernel/plugin.ts";
import { type Entry, hiddenEverywhere } from "./entry.ts";

export interface SealedParts {
  readonly keyed: Keyed<string>;
  /** Another text after each change of what is stored, if it can be had. */
  readonly version?: (() => string) | undefined;
  readonly key: SealingKey;
  readonly mask: Mask;
  /** A value is stored that others on the store have not masked yet. */
  readonly onSet?: () => Promise<void>;
}

/** A call under way may still answer with a value that was removed or renewed. It takes an hour at most. */
const FORGET_AFTER_MS = 61 * 60_000;

export function openSealed({ keyed, version, key, mask, onSet }: SealedParts) {
  /** By sealed text: another process may have changed what is in the store. */
  let opened = new Map<string, Entry>();
  let known: readonly string[] = [];
  let readAt: string | undefined;

  /** The values that are hidden for this store's sake; `goneAt` once it has them no more. */
  const hidden = new Map<string, { readonly forget: () => void; goneAt: number | undefined }>();
  let hasGone = false;

  function hide(place: string, entry: Entry): void {
    for (const value of hiddenEverywhere(place, entry)) {
      const { forget } = hidden.get(value) ?? { forget: mask.add(value) };
      hidden.set(value, { forget, goneAt: undefined });
    }
  }

  function forgetGone(): void {
    const [kept, now] = [new Set(known), Date.now()];
    hasGone = false;
    for (const [value, one] of hidden) {
      one.goneAt = kept.has(value) ? undefined : (one.goneAt ?? now);
      if (one.goneAt === undefined) continue;
      hasGone = true;
      if (now - one.goneAt < FORGET_AFTER_MS) continue;
      one.forget();
      hidden.delete(value);
    }
  }

  function reveal(place: string, sealed: string): Entry {
    const cached = opened.get(sealed);
    if (cached !== undefined) return cached;
    const entry = JSON.parse(unseal(key, place, sealed)) as Entry;
    hide(place, entry);
    opened.set(sealed, entry);
    return entry;
  }

  async function all(): Promise<readonly [string, string][]> {
    const entries: [string, string][] = [];
    for await (const [place, sealed] of keyed.iterator()) entries.push([place, sealed]);
    return entries;
  }

  async function find(place: string): Promise<Entry | undefined> {
    const sealed = await keyed.get(place);
    return sealed === undefined ? undefined : reveal(place, sealed);
  }

  /** An entry that was sealed with another key is skipped, if it was not asked for by name. */
  async function findIfReadable(place: string): Promise<Entry | undefined> {
    try {
      return await find(place);
    } catch (error) {
      if (error instanceof Fault) return undefined;
      throw error;
    }
  }

  async function put(place: string, entry: Entry): Promise<void> {
    hide(place, entry);
    await keyed.set(place, seal(key, place, JSON.stringify(entry)));
    await onSet?.();
  }

  /** Every value and refresh token that is looked for in all traffic. The same array while nothing has changed. */
  async function readKnown(): Promise<readonly string[]> {
    const now = version?.();
    if (now !== undefined && now === readAt) {
      if (hasGone) forgetGone();
      return known;
    }
    const entries = new Map<string, Entry>();
    const found: string[] = [];
    for (const [place, sealed] of await all()) {
      try {
        const entry = reveal(place, sealed);
        if (!entries.has(sealed)) found.push(...hiddenEverywhere(place, entry));
        entries.set(sealed, entry);
      } catch (error) {
        // A value that cannot be opened cannot leak either; asking for it by name is a fault.
        if (!(error instanceof Fault)) throw error;
      }
    }
    opened = entries;
    if (found.length !== known.length || found.some((value, index) => value !== known[index])) known = found;
    readAt = now;
    forgetGone();
    return known;
  }

  return {
    places: async (): Promise<readonly string[]> => (await all()).map(([place]) => place),
    find,
    findIfReadable,
    put,
    remove: (place: string): Promise<boolean> => keyed.delete(place),
    known: readKnown,
  };
}

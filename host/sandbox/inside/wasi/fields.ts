/** Headers as `wasi:http` has them: names with bytes. */
import { CONNECTION_HEADERS } from "../../../../capabilities/headers.ts";
import type { HeaderList } from "../../protocol.ts";
import { type Holdings, Refusal, Resource } from "./io.ts";

type Entry = readonly [name: string, value: Uint8Array];

/** In a request: the guest wants to be told in `WORDS` why it failed. Neither is sent to anybody: see `wit/fetch.js`. */
export const WANTS_WORDS = "postern-wants-reason";
export const WORDS = "postern-reason";
/** In a response: where it came from, if that is not the address that was asked. Only we can set it. */
export const ADDRESS = "postern-url";

export interface Fields {
  isFrozen: boolean;
  has(name: string): boolean;
  entries(): readonly Entry[];
  clone(): Fields;
  [Symbol.dispose](): void;
}

export interface FieldsClass {
  new (): Fields;
  frozen(list: HeaderList): Fields;
}

/** More than the broker lets pass in either direction, however short each of them is. */
const MAX_BYTES = 1 << 20;
/** An entry costs this much beside its characters. */
const ENTRY_BYTES = 128;

/** The glue also makes some with `new`, so each instance has a class that knows its holdings. */
export function createFieldsClass(holdings: Holdings): FieldsClass {
  return class Fields extends Resource {
    readonly #account = holdings.account;
    #entries: Entry[] = [];
    #bytes = 0;
    isFrozen = false;

    constructor() {
      super(holdings);
    }

    static fromList(entries: readonly Entry[]): Fields {
      const fields = new Fields();
      for (const [name, value] of entries) fields.append(name, value);
      return fields;
    }

    static frozen(list: HeaderList): Fields {
      const fields = Fields.fromList(list.map(([name, value]) => [name, Buffer.from(value, "latin1")]));
      fields.isFrozen = true;
      return fields;
    }

    get(name: string): readonly Uint8Array[] {
      const wanted = name.toLowerCase();
      return this.#entries.flatMap(([own, value]) => (own.toLowerCase() === wanted ? [value] : []));
    }
    has(name: string): boolean {
      return this.get(name).length > 0;
    }
    set(name: string, values: readonly Uint8Array[]): void {
      this.delete(name);
      for (const value of values) this.append(name, value);
    }
    delete(name: string): void {
      this.#check(name);
      const wanted = name.toLowerCase();
      this.#entries = this.#entries.filter(([own]) => own.toLowerCase() !== wanted);
    }
    append(name: string, value: Uint8Array): void {
      this.#check(name);
      // Deleted entries stay counted: this ends a guest that goes on and on, and is in nobody else's way.
      const bytes = name.length + value.byteLength + ENTRY_BYTES;
      if (this.#bytes + bytes > MAX_BYTES || !this.#account.take(bytes))
        throw new RangeError("the headers are too long");
      this.#bytes += bytes;
      this.#entries.push([name, value]);
    }
    entries(): readonly Entry[] {
      return this.#entries;
    }
    /** `entries` of WASI 0.3. */
    copyAll(): readonly Entry[] {
      return this.#entries;
    }
    getAndDelete(name: string): readonly Uint8Array[] {
      const values = this.get(name);
      this.delete(name);
      return values;
    }
    clone(): Fields {
      return Fields.fromList(this.#entries);
    }
    [Symbol.dispose](): void {
      this.#account.give(this.#bytes);
      this.#bytes = 0;
    }
    #check(name: string): void {
      if (this.isFrozen) throw new Refusal({ tag: "immutable" });
      if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) throw new Refusal({ tag: "invalid-syntax" });
    }
  };
}

/** They say how a message is carried, which is not for the guest. Engines set them; a browser's `fetch` ignores them. */
const IGNORED: ReadonlySet<string> = new Set([
  ...CONNECTION_HEADERS,
  WANTS_WORDS,
  "accept-encoding",
  "content-length",
  "expect",
  "host",
]);

/** In the form of `http-request`. One that was given several times is joined, as the standard allows. */
export function toHeadersJson(fields: Fields): string {
  const joined = new Map<string, string>();
  for (const [name, bytes] of fields.entries()) {
    const key = name.toLowerCase();
    if (IGNORED.has(key)) continue;
    const value = Buffer.from(bytes).toString("latin1");
    const before = joined.get(key);
    joined.set(key, before === undefined ? value : `${before}${key === "cookie" ? "; " : ", "}${value}`);
  }
  return JSON.stringify(Object.fromEntries(joined));
}

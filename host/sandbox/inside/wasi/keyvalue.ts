/** `wasi:keyvalue/store` of the draft 0.2.0: one bucket, which is the tool's state. */
import { type Holdings, Refusal, Resource } from "./io.ts";

export interface State {
  get(key: string): Promise<Uint8Array | undefined>;
  set(key: string, value: Uint8Array): Promise<void>;
  delete(key: string): Promise<void>;
  listKeys(prefix: string): Promise<readonly string[]>;
}

/** Other hosts call the store that every component has by these names. */
const NAMES = ["", "default"];

export function createKeyValue(holdings: Holdings, state: State): object {
  class Bucket extends Resource {
    get(key: string) {
      return explained(state.get(key));
    }
    set(key: string, value: Uint8Array) {
      return explained(state.set(key, value));
    }
    delete(key: string) {
      return explained(state.delete(key));
    }
    async exists(key: string) {
      return (await this.get(key)) !== undefined;
    }
    /** All of them are in the first page. */
    async listKeys(cursor: bigint | undefined) {
      return { keys: cursor === undefined ? await explained(state.listKeys("")) : [], cursor: undefined };
    }
  }
  return {
    Bucket,
    open(identifier: string) {
      if (!NAMES.includes(identifier)) throw new Refusal({ tag: "no-such-store" });
      return new Bucket(holdings);
    },
  };
}

/** Refusals in the interface's own form. */
function explained<Value>(answer: Promise<Value>): Promise<Value> {
  return answer.catch((error: Error) => {
    throw new Refusal({ tag: "other", val: error.message });
  });
}

/** A store that is open, on either engine. */
import type { Store } from "../../../kernel/vocabulary/store.ts";

export interface OpenStore extends Store {
  /** What an operator calls it: its file, or its database and host. */
  readonly name: string;
  /** Throws where the store no longer answers. */
  probe(): void | Promise<void>;
  /** When what waits is written. */
  close(): Promise<void>;
}

/** The SQLite store of a home, with the home's own key, as the service would open it. */
import { join } from "node:path";
import { loadKeys } from "../../../plugins/store/keys/secrets-key.ts";
import { openStore } from "../../../plugins/store/sqlite/store.ts";

export const openHomeStore = (home: string) =>
  openStore(join(home, "store.sqlite"), { secretsKey: () => loadKeys(home, undefined) });

import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { loadKeys } from "../../../../plugins/store/keys/secrets-key.ts";
import { openStore } from "../../../../plugins/store/sqlite/store.ts";
import { temporaryFolder } from "../../../support/home.ts";

function openIn(home: string) {
  const store = openStore(join(home, "store.sqlite"), { secretsKey: () => loadKeys(home, undefined) });
  onTestFinished(() => store.close());
  return store;
}

test("a purpose has the same key at every start, and another home or purpose another", async () => {
  const [home, other] = [temporaryFolder(), temporaryFolder()];
  const first = await openIn(home).keyFor("one");
  expect(first).toHaveLength(32);
  expect(await openIn(home).keyFor("one")).toEqual(first);
  expect(await openIn(home).keyFor("two")).not.toEqual(first);
  expect(await openIn(other).keyFor("one")).not.toEqual(first);
});

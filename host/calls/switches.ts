/** Tools that were switched off because they kept taking their process down, and the way back. On all nodes of the store. */
import { defineTables } from "../../kernel/kit/store.ts";
import type { Log } from "../../kernel/plugin.ts";
import type { Store } from "../../plugins/store/services.ts";
import type { InstalledTool } from "../catalog/catalog.ts";

export interface SwitchedOff {
  /** SHA-256 of the component: another one installed under the name is not switched off. */
  readonly digest: string;
  readonly at: string;
  readonly why: string;
}

export type Switches = Awaited<ReturnType<typeof openSwitches>>;

/** The namespace in the store, by the tools' names; also the topic that tells other nodes of a switch. */
export const SWITCHES = "tool-switches";

const DEATHS = 3;
const WITHIN_MS = 10 * 60_000;

// By name, as the switches are: two tools may be the same component.
export const TABLES = defineTables(
  ({ text, integer }) =>
    `CREATE TABLE tool_deaths (tool ${text} NOT NULL, digest ${text} NOT NULL, at ${integer} NOT NULL)`,
);

export async function openSwitches(store: Store, log: Log) {
  const keyed = store.keyed<SwitchedOff>(SWITCHES);
  const sql = await store.tables("tool-deaths", TABLES);
  /** Digests that were seen to be on: a call need not look again until somebody switches something. */
  const on = new Map<string, string>();
  const changed = () => store.changes.mark(SWITCHES);

  const read = async ({ name, digest }: InstalledTool): Promise<SwitchedOff | undefined> => {
    const found = await keyed.get(name);
    return found?.digest === digest ? found : undefined;
  };

  /** Called when a tool is removed, too: installed again, it starts anew. */
  const forget = async (name: string): Promise<void> => {
    await sql.run("DELETE FROM tool_deaths WHERE tool = ?", name);
    await keyed.delete(name);
    await changed();
  };

  const count = ({ name, digest }: InstalledTool): Promise<number> =>
    sql.transaction(async (tx) => {
      // First: of two deaths at once on two nodes, the second to count sees the other.
      await store.changes.mark(SWITCHES, tx);
      await tx.run("DELETE FROM tool_deaths WHERE at <= ?", Date.now() - WITHIN_MS);
      await tx.run("INSERT INTO tool_deaths (tool, digest, at) VALUES (?, ?, ?)", name, digest, Date.now());
      const found = await tx.get<{ deaths: number }>(
        "SELECT count(*) AS deaths FROM tool_deaths WHERE tool = ? AND digest = ?",
        name,
        digest,
      );
      return found?.deaths ?? 0;
    });

  return {
    forget,
    async off(tool: InstalledTool): Promise<SwitchedOff | undefined> {
      const { name, digest } = tool;
      if (on.get(name) === digest) return undefined;
      const found = await read(tool);
      if (found === undefined) on.set(name, digest);
      return found;
    },
    /** Counts one death of the tool's process; the third in ten minutes switches it off. */
    async died(tool: InstalledTool, why: string): Promise<void> {
      const { name, digest } = tool;
      log.warn({ tool: name }, `the process of ${name} died: ${why}`);
      if ((await count(tool)) < DEATHS) return;
      await sql.run("DELETE FROM tool_deaths WHERE tool = ?", name);
      const sentence = `It took its process down ${DEATHS} times within ten minutes; the last time ${why}.`;
      await keyed.set(name, { digest, at: new Date().toISOString(), why: sentence });
      on.delete(name);
      await changed();
      log.error(
        { tool: name },
        `${name} is switched off. ${sentence} Switch it on again: postern tool enable ${name}`,
      );
    },
    /** False where it was on. */
    async enable(tool: InstalledTool): Promise<boolean> {
      const isOff = (await read(tool)) !== undefined;
      await forget(tool.name);
      return isOff;
    },
    close: store.changes.follow(SWITCHES, () => on.clear()),
  };
}

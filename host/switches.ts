/** Tools that were switched off because they kept taking their process down, and the way back. */
import type Keyv from "keyv";
import type { Log } from "../kernel/plugin.ts";
import type { InstalledTool } from "./catalog/catalog.ts";

export interface SwitchedOff {
  /** Of the component: another one installed under the name is not switched off. */
  readonly digest: string;
  readonly at: string;
  /** A sentence. */
  readonly why: string;
}

export interface Switches {
  /** Counts one death of the tool's process; the third in ten minutes switches it off. */
  died(tool: InstalledTool, why: string): Promise<void>;
  off(tool: InstalledTool): Promise<SwitchedOff | undefined>;
  /** False where it was on. */
  enable(tool: InstalledTool): Promise<boolean>;
}

const DEATHS = 3;
const WITHIN_MILLIS = 10 * 60_000;

export function openSwitches(keyed: Keyv<SwitchedOff>, log: Log): Switches {
  const deaths = new Map<string, number[]>();
  /** Digests that were seen to be on: nobody but this process switches them off, so a call need not look again. */
  const on = new Set<string>();

  const off: Switches["off"] = async ({ name, digest }) => {
    if (on.has(digest)) return undefined;
    const found = await keyed.get(name);
    if (found?.digest === digest) return found;
    on.add(digest);
    return undefined;
  };

  return {
    off,
    async died(tool, why) {
      const { name, digest } = tool;
      const recent = [...(deaths.get(digest) ?? []), Date.now()].filter(
        (at) => at > Date.now() - WITHIN_MILLIS,
      );
      deaths.set(digest, recent);
      log.warn({ tool: name }, `the process of ${name} died: ${why}`);
      if (recent.length < DEATHS) return;
      deaths.delete(digest);
      const sentence = `It took its process down ${DEATHS} times within ten minutes; the last time ${why}.`;
      await keyed.set(name, { digest, at: new Date().toISOString(), why: sentence });
      on.delete(digest);
      log.error(
        { tool: name },
        `${name} is switched off. ${sentence} Switch it on again: postern tool enable ${name}`,
      );
    },
    async enable(tool) {
      const isOff = (await off(tool)) !== undefined;
      deaths.delete(tool.digest);
      await keyed.delete(tool.name);
      return isOff;
    },
  };
}

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
  /** Of a tool that is removed: installed again, it starts anew. */
  forget(name: string): Promise<void>;
}

/** Of the store, by the tools' names. */
export const SWITCHES = "tool-switches";

const DEATHS = 3;
const WITHIN_MILLIS = 10 * 60_000;

export function openSwitches(keyed: Keyv<SwitchedOff>, log: Log): Switches {
  // Both by name, as in the store: two tools may be the same component.
  const deaths = new Map<string, { readonly digest: string; readonly at: readonly number[] }>();
  /** Digests that were seen to be on: nobody but this process switches them off, so a call need not look again. */
  const on = new Map<string, string>();

  const off: Switches["off"] = async ({ name, digest }) => {
    if (on.get(name) === digest) return undefined;
    const found = await keyed.get(name);
    if (found?.digest === digest) return found;
    on.set(name, digest);
    return undefined;
  };

  const forget: Switches["forget"] = async (name) => {
    deaths.delete(name);
    await keyed.delete(name);
  };

  return {
    off,
    forget,
    async died({ name, digest }, why) {
      const known = deaths.get(name);
      const since = Date.now() - WITHIN_MILLIS;
      const recent = known?.digest === digest ? known.at.filter((at) => at > since) : [];
      const at = [...recent, Date.now()];
      deaths.set(name, { digest, at });
      log.warn({ tool: name }, `the process of ${name} died: ${why}`);
      if (at.length < DEATHS) return;
      deaths.delete(name);
      const sentence = `It took its process down ${DEATHS} times within ten minutes; the last time ${why}.`;
      await keyed.set(name, { digest, at: new Date().toISOString(), why: sentence });
      on.delete(name);
      log.error(
        { tool: name },
        `${name} is switched off. ${sentence} Switch it on again: postern tool enable ${name}`,
      );
    },
    async enable(tool) {
      const isOff = (await off(tool)) !== undefined;
      await forget(tool.name);
      return isOff;
    },
  };
}

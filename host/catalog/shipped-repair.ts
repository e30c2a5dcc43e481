/** Puts back a shipped tool whose installed copy is broken. What the operator removed or replaced is left alone. */
import { readFile } from "node:fs/promises";
import { compareCapabilities } from "../../capabilities/describe.ts";
import { Fault, reason } from "../../kernel/plugin.ts";
import { readComponentFile } from "../compile/component-file.ts";
import { type Candidate, type Catalog, digestOf, type InstalledTool } from "./catalog.ts";
import { filesOf, mayDoMore, SHIPPED, type ShippedOptions } from "./shipped.ts";

export interface Damage {
  readonly reason: string;
  /** The installed digest; undefined if nothing tells whether it was ours. */
  readonly digest: string | undefined;
  readonly tool?: InstalledTool;
}

export interface RepairOptions extends Pick<ShippedOptions, "catalog" | "examine" | "progress"> {
  putOver(name: string, candidate: Candidate, damage: Damage): Promise<unknown>;
}

/** Undefined where it is sound, is not there, or is somebody else's. */
export async function findDamage(catalog: Catalog, name: string): Promise<Damage | undefined> {
  const ours = SHIPPED.includes(name) ? (await catalog.offered())[name] : undefined;
  if (!ours) return undefined;
  const tool = await catalog.find(name);
  if (tool === undefined) {
    const broken = (await catalog.broken()).find((one) => one.name === name);
    const digest = broken && (await catalog.remains(name));
    return broken && (digest ?? ours) === ours ? { reason: broken.reason, digest } : undefined;
  }
  if (tool.digest !== ours) return undefined;
  try {
    await catalog.read(tool);
    return undefined;
  } catch (error) {
    // On another node, this moment.
    const isReplaced = error instanceof Fault && error.code === "tool_replaced";
    return isReplaced ? undefined : { reason: reason(error), digest: tool.digest, tool };
  }
}

export async function repairShipped(name: string, options: RepairOptions): Promise<void> {
  const { catalog, examine, progress, putOver } = options;
  const { wasm, capabilities } = filesOf(name);
  const damage = await findDamage(catalog, name);
  if (damage === undefined) return;
  const component = await readComponentFile(wasm);
  const { tool } = damage;
  // Its capabilities and its origin stay as they are.
  if (tool !== undefined && tool.digest === digestOf(component)) return catalog.mend(tool, component);
  const text = await readFile(capabilities, "utf8");
  const candidate = await examine(component, text, progress, tool?.choices);
  if (tool !== undefined && compareCapabilities(tool.capabilities, candidate.capabilities).added.length > 0)
    throw new Fault("unavailable", "tool_may_do_more", mayDoMore(name), { param: name });
  // That took a while: somebody may have installed another.
  const still = await findDamage(catalog, name);
  if (still === undefined) return;
  await putOver(name, candidate, still);
  await catalog.offer(name, candidate.digest);
}

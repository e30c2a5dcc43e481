/** Asks the place that a tool came from what it offers now. */
import { Fault } from "../../kernel/plugin.ts";
import { digestOf, type InstalledTool } from "../catalog/catalog.ts";
import { readCapabilities } from "../catalog/install.ts";
import { type Change, compareRelease } from "../catalog/release.ts";
import type { JudgeSignature } from "../trust/judge.ts";
import { readReference } from "./local.ts";
import type { Fetched } from "./source.ts";
import type { Sources } from "./sources.ts";

export interface Finding {
  readonly fetched: Fetched;
  readonly change: Change;
  /** Who signed it, for people; absent for what is on this machine's disk. */
  readonly signature?: string;
}

/** Undefined where the installed version is the newest there. */
export async function checkForUpdate(
  { sources, judgeSignature }: { readonly sources: Sources; readonly judgeSignature: JudgeSignature },
  tool: InstalledTool,
  progress: (line: string) => void,
): Promise<Finding | undefined> {
  const { origin } = tool;
  if (origin === undefined) throw new Fault("invalid", "no_origin", `${tool.name} has no place to look at`);
  const reference =
    origin.listed === undefined
      ? readReference(origin.reference, "/")
      : ({ kind: "named", name: origin.listed } as const);
  const fetched = await sources.fetch(reference, { progress });
  const isLocal = origin.kind === "file" || origin.kind === "folder";
  const verdict = isLocal ? undefined : await judgeSignature(fetched.origin, fetched.evidence);
  const change = compareRelease(tool, {
    origin: { ...fetched.origin, signer: verdict?.signer },
    capabilities: readCapabilities(fetched.capabilitiesText),
    digest: digestOf(fetched.component),
  });
  if (change === undefined) return undefined;
  return { fetched, change, signature: verdict?.sentence };
}

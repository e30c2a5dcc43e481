/** Authors' projects in temporary folders, as `tool new` makes them. */

import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { BIN } from "../clone.ts";
import { temporaryFolder } from "../home.ts";
import { postern } from "../processes/postern.ts";

/** Answers the folder of a new project called `countdown`, whatever the template makes it do. */
export async function newProject(
  lang: "ts" | "js" | "rust" = "ts",
  template: "blank" | "http" | "auth" = "http",
): Promise<string> {
  const cwd = temporaryFolder();
  const { code, stderr } = await postern(
    ["tool", "new", "countdown", "--lang", lang, "--template", template],
    {
      cwd,
      env: { POSTERN_HOME: join(cwd, "home") },
    },
  );
  if (code !== 0) throw new Error(stderr);
  return join(cwd, "countdown");
}

/** A PATH on which `postern` and the pinned Node are found first, as after `npm install`; then what is in `next`. */
export function pathWithPostern(folder = temporaryFolder(), ...next: readonly string[]): string {
  const bin = join(folder, "bin");
  mkdirSync(bin);
  symlinkSync(BIN, join(bin, "postern"));
  symlinkSync(process.execPath, join(bin, "node"));
  return [bin, ...next, process.env["PATH"]].join(":");
}

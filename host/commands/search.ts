/** `tool search`: what the indexes list. */
import { type JsonOption, table } from "../../kernel/kit/terminal.ts";
import type { CommandContext } from "../../kernel/plugin.ts";
import { SHIPPED_INDEX } from "../sources/index/indexes.ts";
import { searchEntries } from "../sources/index/listing.ts";
import { withHost } from "./host-access.ts";
import { print, progress } from "./terminal/terminal.ts";

export async function search(
  context: CommandContext,
  words: readonly string[],
  options: JsonOption,
): Promise<void> {
  await withHost(context, async ({ sources, catalog }) => {
    const { entries, problems } = await sources.indexes.read();
    const installed = new Set((await catalog.list()).map(({ name }) => name));
    const found = searchEntries(entries, words).map((entry) => ({
      ...entry,
      installed: installed.has(entry.name),
    }));
    if (!options.json) for (const problem of problems) progress(problem);
    print(options, { tools: found, problems }, () => {
      if (found.length === 0) return `No tool found for "${words.join(" ")}".`;
      const rows = found.map(({ name, about, from, index, signer, installed: isInstalled }) => ({
        name: isInstalled ? `${name} (installed)` : name,
        about,
        from:
          index === SHIPPED_INDEX
            ? "comes with Postern"
            : signer === undefined
              ? from
              : `${from}, signed by ${signer}`,
      }));
      return `${table(
        ["NAME", "ABOUT", "FROM"],
        rows.map(({ name, about, from }) => [name, about, from]),
        { cut: ["ABOUT", "FROM"] },
      )}\nInstall one: postern tool install ${found.find((one) => !one.installed)?.name ?? found[0]?.name}`;
    });
  });
}

/** `postern config`: every setting, its value and where it came from, with secrets hidden. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Fault, reason } from "../../fault.ts";
import type { AnyPlugin } from "../../plugin.ts";
import { say, sayJson, warn } from "../output.ts";
import type { Session } from "../session.ts";
import { table } from "../table.ts";

const HIDDEN = "(set, hidden)";

export function showConfig(
  { settings, folder, home }: Session,
  plugins: readonly AnyPlugin[],
  json: boolean,
): void {
  const broken: string[] = [];
  for (const plugin of plugins) {
    try {
      plugin.configure(settings.for(plugin.name));
    } catch (error) {
      broken.push(`plugin "${plugin.name}" cannot be configured: ${reason(error)}`);
    }
  }
  const rows = settings.declared.map(({ value, secret, ...rest }) => ({
    ...rest,
    secret,
    value: secret && value !== undefined ? HIDDEN : (value ?? null),
  }));
  if (json) {
    sayJson({ settings: rows, problems: settings.problems }, 2);
  } else {
    const lines = rows.map(({ name, value, source, type, about }) => [
      name,
      value ?? "(unset)",
      source,
      type,
      about,
    ]);
    say(table([["NAME", "VALUE", "FROM", "TYPE", "MEANING"], ...lines], ""));
  }
  const here = join(folder, ".env");
  if (folder !== home && existsSync(here))
    warn(`postern: ${here} counts only where the service starts, so it is not shown here\n`);
  if (broken.length > 0) throw new Fault("config", "bad_plugin", broken.join("\n"));
  settings.assertSound();
}

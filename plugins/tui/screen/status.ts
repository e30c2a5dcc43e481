/** The status line at the bottom: the most important parts first, then whatever still fits. */
import stringWidth from "string-width";
import type { ModelName, PluginState } from "../../../kernel/plugin.ts";
import { dollars, thousands } from "./spending.ts";
import { cut, plain } from "./text/lines.ts";

export interface StatusParts {
  readonly model: ModelName;
  readonly title: string | undefined;
  readonly spent: { readonly tokens: number; readonly cost: number };
  readonly plugins: readonly PluginState[];
  readonly jobs: { readonly queued: number; readonly running: number };
}

const LONGEST_TITLE = 30;

export function statusLine({ model, title, spent, plugins, jobs }: StatusParts, width: number): string {
  const { queued, running } = jobs;
  const segments = [
    model.name,
    title === undefined ? "new thread" : cut(plain(title), LONGEST_TITLE),
    spent.tokens > 0 ? `${thousands(spent.tokens)} tokens` : "",
    spent.cost > 0 ? dollars(spent.cost) : "",
    queued + running > 0 ? `jobs: ${running} running, ${queued} queued` : "",
    ...plugins
      .filter(({ on, detail }) => on && /^https?:\/\//.test(detail))
      .map(({ name, detail }) => `${name} ${detail.split(" ", 1)[0]}`),
  ].filter((segment) => segment !== "");
  let line = "";
  for (const segment of segments) {
    const longer = line === "" ? segment : `${line} · ${segment}`;
    if (stringWidth(longer) <= width) line = longer;
  }
  return line === "" ? cut(model.name, width) : line;
}

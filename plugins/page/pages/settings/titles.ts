/** The titles and groups of settings on the page. */
import type { Setting } from "../../state/wire.ts";
import { text } from "../../text/text.ts";

const words = text.settings;

/** A setting of a plugin that the page does not know has its own name, and the plugin's words. */
export const titleOf = (name: string): string => words.names[name]?.title ?? name;

export const helpOf = ({ name, about }: Setting): string => words.names[name]?.help ?? `${about}.`;

export function choiceTitle(name: string, choice: string): string {
  const known: Readonly<Record<string, string>> = name.endsWith("_PROVIDER")
    ? words.providers
    : name === "PROVENANCE"
      ? words.provenance
      : { true: words.yes, false: words.no, "": words.none };
  return known[choice] ?? choice;
}

/** The settings of each provider, beside the name of a model. */
export const FIELDS_OF: Readonly<Record<string, readonly string[]>> = {
  auto: ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "MODEL_BASE_URL", "MODEL_API_KEY", "MODEL_NAME"],
  anthropic: ["ANTHROPIC_API_KEY", "MODEL_NAME"],
  openai: ["OPENAI_API_KEY", "MODEL_NAME"],
  google: ["MODEL_API_KEY", "MODEL_NAME"],
  ollama: ["MODEL_BASE_URL", "MODEL_NAME"],
  "openai-compatible": ["MODEL_BASE_URL", "MODEL_API_KEY", "MODEL_NAME"],
  builtin: [],
};

export const isOfModel = (name: string): boolean => name.startsWith("MODEL_") || name.endsWith("_API_KEY");

export const GROUPS: readonly { readonly title: string; readonly names: readonly string[] }[] = [
  {
    title: words.limits,
    names: ["DAILY_USD_CAP", "CHAT_RATE_LIMIT", "HTTP_RATE_LIMIT", "TURN_MAX_TOOL_CALLS", "TURN_IDLE_SECS"],
  },
  { title: words.approvals, names: ["TOOL_APPROVALS", "PROVENANCE", "TRUSTED_SOURCES"] },
];

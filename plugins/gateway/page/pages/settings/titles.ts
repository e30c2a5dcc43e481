/** The titles and groups of settings on the page. */

const TITLES: Readonly<Record<string, string>> = {
  MODEL_PROVIDER: "Provider",
  MODEL_NAME: "Model",
  MODEL_BASE_URL: "Server URL",
  MODEL_API_KEY: "Key of the server",
  ANTHROPIC_API_KEY: "Anthropic key",
  OPENAI_API_KEY: "OpenAI key",
  MODEL_CONTEXT_TOKENS: "Context window",
  MODEL_INPUTS: "Inputs",
  MODEL_FALLBACK_PROVIDER: "Fallback: provider",
  MODEL_FALLBACK_NAME: "Fallback: model",
  MODEL_FALLBACK_BASE_URL: "Fallback: server URL",
  MODEL_FALLBACK_API_KEY: "Fallback: key",
  DAILY_USD_CAP: "Spending cap",
  CHAT_RATE_LIMIT: "Messages a minute",
  HTTP_RATE_LIMIT: "Webhook requests a minute",
  TURN_MAX_TOOL_CALLS: "Tool calls in a turn",
  TURN_IDLE_SECS: "Longest silence",
  TOOL_APPROVALS: "Approvals",
  PROVENANCE: "Values from others",
  TRUSTED_SOURCES: "Trusted sources",
};

const PROVIDERS: Readonly<Record<string, string>> = {
  auto: "Automatic",
  builtin: "Built-in, without a language model",
  openai: "OpenAI",
  anthropic: "Anthropic",
  ollama: "Ollama",
  "openai-compatible": "OpenAI-compatible server",
  none: "None",
};

export const titleOf = (name: string): string => TITLES[name] ?? name;

export const choiceTitle = (name: string, choice: string): string =>
  name.endsWith("_PROVIDER") ? (PROVIDERS[choice] ?? choice) : choice;

/** The settings of each provider, beside the name of a model. */
export const FIELDS_OF: Readonly<Record<string, readonly string[]>> = {
  auto: ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "MODEL_BASE_URL", "MODEL_API_KEY", "MODEL_NAME"],
  anthropic: ["ANTHROPIC_API_KEY", "MODEL_NAME"],
  openai: ["OPENAI_API_KEY", "MODEL_NAME"],
  ollama: ["MODEL_BASE_URL", "MODEL_NAME"],
  "openai-compatible": ["MODEL_BASE_URL", "MODEL_API_KEY", "MODEL_NAME"],
  builtin: [],
};

export const isOfModel = (name: string): boolean => name.startsWith("MODEL_") || name.endsWith("_API_KEY");

export const GROUPS: readonly { readonly title: string; readonly names: readonly string[] }[] = [
  {
    title: "Spending and limits",
    names: ["DAILY_USD_CAP", "CHAT_RATE_LIMIT", "HTTP_RATE_LIMIT", "TURN_MAX_TOOL_CALLS", "TURN_IDLE_SECS"],
  },
  { title: "Approvals", names: ["TOOL_APPROVALS", "PROVENANCE", "TRUSTED_SOURCES"] },
];

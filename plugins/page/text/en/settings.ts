import { plural } from "../language.ts";

/** The settings in people's words; the variable stands beside each as a note. */
export const settings = {
  model: "Model",
  modelNote: "Who answers, and with which key.",
  test: "Test",
  testing: "Testing…",
  testNote: "Sends one short request with what is entered here, saved or not.",
  moreModel: "More about the model",
  limits: "Spending and limits",
  approvals: "Approvals",
  others: "Others",
  theme: "Theme",
  themeNote: "Of this browser alone.",
  unsaved: "unsaved",
  reset: "Reset",
  resetOf: (title: string) => `Reset ${title}`,
  removeOf: (title: string) => `Remove ${title}`,
  removedOnSave: "It is removed when you save.",
  wrong: (title: string, message: string) => `${title}: ${message}`,
  notUsed: (problem: string) => `The stored value is not used: ${problem}`,
  fixedIn: {
    env: "It is set in a .env file and can only be changed there.",
    environment: "It is set in the environment of the service and can only be changed there.",
  },
  default: (value: string) => `Default: ${value}`,
  notSet: "not set",
  set: "set",
  setEndsIn: (hint: string) => `set, ends in ${hint}`,
  yes: "Yes",
  no: "No",
  none: "none",
  saving: "Saving…",
  discard: "Discard",
  cannotSave: (count: number) =>
    plural(count, { one: "# setting cannot be saved.", other: "# settings cannot be saved." }),
  fixMarked: "Not saved: fix what is marked above.",
  holds: "A change holds from the next message on, on every node.",
  unsavedCount: (count: number) =>
    plural(count, { one: "# change is not saved.", other: "# changes are not saved." }),
  providers: {
    auto: "Automatic",
    builtin: "Built-in, without a language model",
    openai: "OpenAI",
    anthropic: "Anthropic",
    google: "Google",
    ollama: "Ollama",
    "openai-compatible": "OpenAI-compatible server",
    none: "None",
  },
  provenance: { ask: "Ask first", deny: "Refuse the call", off: "Do not check" },
  names: {
    MODEL_PROVIDER: {
      title: "Provider",
      help: "Whose model answers. Automatic takes the first one that is set up.",
    },
    MODEL_NAME: { title: "Model", help: "The name of the model. Test shows which ones there are." },
    MODEL_BASE_URL: {
      title: "Server URL",
      help: "The address of your server, such as http://127.0.0.1:11434.",
    },
    MODEL_API_KEY: { title: "Key of the server", help: "The key that this server expects, if any." },
    ANTHROPIC_API_KEY: {
      title: "Anthropic key",
      help: "From console.anthropic.com; it begins with sk-ant-.",
    },
    OPENAI_API_KEY: { title: "OpenAI key", help: "From platform.openai.com; it begins with sk-." },
    MODEL_CONTEXT_TOKENS: {
      title: "Context window",
      help: "How many tokens the model reads at most, if its name does not tell.",
    },
    MODEL_INPUTS: {
      title: "Inputs",
      help: "What the model takes, if its name does not tell: text, image, audio, file, with commas.",
    },
    MODEL_FALLBACK_PROVIDER: {
      title: "Fallback: provider",
      help: "Who answers when the first model does not.",
    },
    MODEL_FALLBACK_NAME: { title: "Fallback: model", help: "The name of that model." },
    MODEL_FALLBACK_BASE_URL: { title: "Fallback: server URL", help: "The address of that model's server." },
    MODEL_FALLBACK_API_KEY: { title: "Fallback: key", help: "The key for it." },
    CHAT_TITLES: { title: "Titles for chats", help: "The model names a chat after its first answer." },
    DAILY_USD_CAP: {
      title: "Spending cap",
      help: "US dollars that each person may spend on models in a day (UTC). Empty: no cap.",
    },
    CHAT_RATE_LIMIT: { title: "Messages a minute", help: "How many messages each person may send." },
    HTTP_RATE_LIMIT: {
      title: "Webhook requests a minute",
      help: "How many requests one address may send to the webhook.",
    },
    TURN_MAX_TOOL_CALLS: {
      title: "Tool calls in a turn",
      help: "After so many calls an answer is stopped: the model may go round in circles.",
    },
    TURN_IDLE_SECS: {
      title: "Longest silence",
      help: "After so many seconds without a sign of life an answer is stopped.",
    },
    TOOL_APPROVALS: {
      title: "Approvals",
      help: "Which tools run without asking, ask first, or never run, such as weather=allow, mail=deny. By default what can change things asks.",
    },
    PROVENANCE: {
      title: "Values from others",
      help: "What happens when a tool is called with an address or text that did not come from the person: from a web page or a mail, for example.",
    },
    TRUSTED_SOURCES: {
      title: "Trusted sources",
      help: "Tools whose output counts like the person's own words, with commas; MCP servers as mcp:name.",
    },
  } as Readonly<Record<string, { readonly title: string; readonly help: string }>>,
};

/** Turns, calls, tokens and money over time. */
export const usage = {
  time: "Time",
  ranges: { 1: "24 hours", 7: "7 days", 30: "30 days", 90: "90 days" } as Readonly<Record<number, string>>,
  by: "By",
  byGroup: { model: "by model", tool: "by tool", channel: "by channel", user: "by user" } as Readonly<
    Record<string, string>
  >,
  others: "all others",
  storage: (used: string, most: string) => `You keep ${used} of ${most}`,
  answered: (count: number, share: string, time: string) =>
    plural(count, {
      one: `You answered # question, ${share} of them with yes, half within ${time}.`,
      other: `You answered # questions, ${share} of them with yes, half within ${time}.`,
    }),
  hasty:
    "That is quick. Take a moment to look where something goes and what it says: only you can tell whether it is right.",
  none: "Nothing was asked in this time",
  noneNote:
    "Choose a longer time, or start a chat: each answer is counted here, with its tokens, its cost and the tools it called.",
  turns: "Turns",
  failedTurns: "Failed turns",
  tokens: "Tokens",
  cost: "Cost",
  estimated: (cost: string, estimate: string) => `${cost} (${estimate} estimated for the cap)`,
  saved: "Saved by caching",
  savedOf: (saved: string, share: string) => `${saved} (${share} of the input was cached)`,
  calls: "Tool calls",
  failedCalls: "Failed calls",
  failedToolCalls: "Failed tool calls",
  turnsBy: {
    model: "Turns by model",
    tool: "Turns by tool",
    channel: "Turns by channel",
    user: "Turns by user",
  } as Readonly<Record<string, string>>,
  callsBy: {
    model: "Tool calls by model",
    tool: "Tool calls by tool",
    channel: "Tool calls by channel",
    user: "Tool calls by user",
  } as Readonly<Record<string, string>>,
  timeToAnswer: "Time to an answer",
  timeOfCall: "Time of a tool call",
  halfTook: "half took at most",
  mostTook: "95% took at most",
  counted: "Turns are counted while their threads are kept; tool calls from the newest 10,000 receipts.",
  columns: {
    name: "Name",
    count: "Count",
    failed: "Failed",
    tokensIn: "Tokens in",
    tokensOut: "Tokens out",
    cost: "Cost",
    half: "Half took",
    most: "95% took",
  },
  noneInTime: "None in this time.",
  chartLabel: (title: string, most: string) =>
    `${title} over time, at most ${most}; the table below has the numbers`,
  asTable: (title: string) => `${title} as a table`,
  when: "When",
};

/** The log and the nodes. */
export const logs = {
  follow: "Follow",
  level: "Minimum level",
  levels: {
    debug: "Debug and up",
    info: "Info and up",
    warn: "Warnings and up",
    error: "Errors and up",
    fatal: "Fatal",
  },
  text: "Text",
  user: "User",
  turn: "Turn",
  clear: "Clear",
  none: "No line matches",
  noneNote: "Choose a lower level or clear the filter. LOG_LEVEL decides what is written at all.",
  lines: "Log lines, newest first",
  onlyUser: (user: string) => `Only lines of ${user}`,
  onlyTurn: "Only lines of this turn",
  nodesAndStore: (count: number) => plural(count, { one: "# node, store", other: "# nodes, store" }),
  nodes: "Nodes, store",
  columns: { node: "Node", version: "Version", started: "Started", seen: "Last seen" },
  store: "Store",
};

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
  none: "Nothing was asked in this time",
  noneNote:
    "Choose a longer time, or start a chat: each answer is counted here, with its tokens, its cost and the tools it called.",
  turns: "Turns",
  failedTurns: "Failed turns",
  tokens: "Tokens",
  cost: "Cost",
  estimated: (cost: string, estimate: string) => `${cost} (${estimate} estimated for the cap)`,
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

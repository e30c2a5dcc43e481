/** Where a person does what the client cannot ask them for. */
export interface Places {
  allow(tool: string): string;
  signIn(tool: string): string;
  answer(thread: string): string;
  /** Of the page where a tool gets its credentials. */
  readonly tools: string | undefined;
}

/** `page`: the gateway's address, where there is one. */
export function createPlaces(page: string | undefined): Places {
  const tools = page === undefined ? undefined : `${page}/#/tools`;
  return {
    tools,
    allow: (tool) => {
      const setting = `set TOOL_APPROVALS=${tool}=allow`;
      const how = tools === undefined ? setting : `allow it at ${tools}, or ${setting}`;
      return `The tool ${tool} asks a person before it runs, and this client cannot ask. To run it, ${how}, and call it again.`;
    },
    signIn: (tool) =>
      tools === undefined
        ? `Run \`postern tool auth ${tool}\`, and call it again.`
        : `Sign in or set the credential at ${tools}, and call it again.`,
    answer: (thread) =>
      page === undefined
        ? "The conversation waits for an answer in the browser."
        : `The conversation waits for your answer at ${page}/#/chat/${thread}.`,
  };
}

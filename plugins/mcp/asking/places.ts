/** Where a person does what the client cannot ask them for. */
export interface Places {
  allow(tool: string): string;
  signIn(tool: string): string;
  answer(thread: string): string;
  /** The part of the page where a tool is allowed and gets its credentials; undefined where there is no page. */
  tool(name: string): string | undefined;
}

/** `page`: the gateway's address, where there is one. */
export function createPlaces(page: string | undefined): Places {
  const tool = (name: string) => (page === undefined ? undefined : `${page}/#/tools/${name}`);
  return {
    tool,
    allow(name) {
      const setting = `set TOOL_APPROVALS=${name}=allow`;
      const how = page === undefined ? setting : `allow it at ${tool(name)}, or ${setting}`;
      return `The tool ${name} asks a person before it runs, and this client cannot ask. To run it, ${how}, and call it again.`;
    },
    signIn: (name) =>
      page === undefined
        ? `Run \`postern tool auth ${name}\`, and call it again.`
        : `Sign in or set the credential at ${tool(name)}, and call it again.`,
    answer: (thread) =>
      page === undefined
        ? "The conversation waits for an answer in the browser."
        : `The conversation waits for your answer at ${page}/#/chat/${thread}.`,
  };
}

/** Tells people where to do what the client cannot ask them for. */
export type PageLinks = ReturnType<typeof createPageLinks>;

/** `page` is the gateway's address, if there is one. */
export function createPageLinks(page: string | undefined) {
  const tool = (name: string) => (page === undefined ? undefined : `${page}/#/tools/${name}`);
  return {
    /** The part of the page where a tool is approved and gets its credentials; undefined without a page. */
    tool,
    allow(name: string): string {
      const setting = `set TOOL_APPROVALS=${name}=allow`;
      const how = page === undefined ? setting : `allow it at ${tool(name)}, or ${setting}`;
      return `The tool ${name} asks a person before it runs, and this client cannot ask. To run it, ${how}, and call it again.`;
    },
    signIn: (name: string) =>
      page === undefined
        ? `Run \`postern tool auth ${name}\`, and call it again.`
        : `Sign in or set the credential at ${tool(name)}, and call it again.`,
    answer: (thread: string) =>
      page === undefined
        ? "The conversation waits for an answer in the browser."
        : `The conversation waits for your answer at ${page}/#/chat/${thread}.`,
  };
}

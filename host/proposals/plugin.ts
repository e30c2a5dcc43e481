/** Lets the agent propose tools that it writes. */
import { definePlugin } from "../../kernel/plugin.ts";
import type { Draft, Drafts } from "./drafts.ts";
import { proposingTool } from "./propose.ts";

export default definePlugin({
  name: "tool-proposals",
  needs: ["agent", "accounts", "store", "toolHost"],
  extends: ["agent"],
  configure: (env) => ({
    caches: env.text("XDG_CACHE_HOME", undefined, "The folder of your caches; default: ~/.cache"),
  }),
  start({ config: { caches }, use: { agent, accounts, store, toolHost }, home, onStop }) {
    const { privateHosts } = toolHost;
    const parts = { keyed: store.keyed<Draft>("tool-proposals"), places: { home, caches }, privateHosts };
    let opened: Promise<Drafts> | undefined;
    const openDrafts = (): Promise<Drafts> => {
      opened ??= import("./drafts.ts").then(({ createDrafts }) =>
        createDrafts({ ...parts, open: toolHost.open }),
      );
      return opened;
    };
    const isOperator = async (user: string) => (await accounts.find(user))?.role === "operator";
    onStop(agent.extend({ tools: [proposingTool(openDrafts, isOperator)] }));
  },
});

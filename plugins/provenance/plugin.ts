/** Provenance: a call with values that somebody other than the user supplied is asked about, or refused. */
import { definePlugin, Off } from "../../kernel/plugin.ts";
import { readProvenance } from "./settings.ts";
import { MIGRATIONS } from "./tables.ts";

export default definePlugin({
  name: "provenance",
  needs: ["accounts", "agent", "approvals", "threads", "store", "settings", "kernel"],
  wants: ["toolAdmin"],
  provides: ["provenance", "destinations"],
  extends: ["agent", "accounts"],
  configure(env) {
    const settings = readProvenance(env);
    return settings.mode === "off" ? new Off("PROVENANCE=off") : settings;
  },
  async start({ use: { accounts, agent, approvals, threads, store, settings, kernel, toolAdmin }, onStop }) {
    const { createDestinations, heldDestinations } = await import("./destinations.ts");
    const { createExplaining } = await import("./explainer.ts");
    const { createTreeCounts, openTurnGate } = await import("./gate.ts");
    const { planTool } = await import("./plan-tool.ts");
    const { createStoredTraces } = await import("./stored-trace.ts");
    const sql = await store.tables("provenance", MIGRATIONS);
    const live = await settings.live("provenance", readProvenance);
    const destinations = createDestinations(sql);
    const stored = createStoredTraces();
    const countOf = createTreeCounts();
    const parts = { destinations, mask: kernel.mask };
    onStop(
      agent.extend({
        tools: [planTool],
        check: async (turn) => {
          // Without a tool host nothing is known of tools.
          if (turn.installed.size > 0 && !turn.isReplay)
            await destinations.dropRules(turn.user, turn.installed);
          const now = { ...parts, settings: await live.current() };
          return openTurnGate(turn, stored, now, countOf(turn.tree));
        },
      }),
    );
    onStop(
      approvals.onTrusted(async (user, { gate, rule }) => {
        const { name: tool } = gate.call;
        if (rule) await destinations.agree({ user, tool, rule, fingerprint: gate.fingerprint ?? "" });
        else for (const value of heldDestinations(gate)) await destinations.add({ user, tool, value });
      }),
    );
    onStop(threads.onChanged(stored.forget));
    // A user who is given what another had decides anew where calls may go.
    onStop(
      accounts.follow({ give: (tx, from) => tx.run('DELETE FROM destinations WHERE "user" = ?', from) }),
    );
    return {
      provenance: createExplaining({
        ...{ ...parts, stored, threads },
        settings: live.current,
        receipt: toolAdmin?.receipt,
      }),
      destinations,
    };
  },
  operations: {
    commands: [
      {
        name: "explain",
        group: "Talk",
        about: "show where the values of a turn's tool calls came from",
        example: "postern explain",
        load: async () => (await import("./commands/explain.ts")).register,
      },
      {
        name: "destination",
        group: "Advanced",
        about: "say where tools may send things although the user did not name it",
        example: "postern destination list",
        load: async () => (await import("./commands/destination.ts")).register,
      },
    ],
    tables: async () => [{ owner: "provenance", migrations: MIGRATIONS, personal: ["destinations"] }],
    live: readProvenance,
  },
});

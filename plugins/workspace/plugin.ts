/** The workspace: files of each user, with every change kept. The model's tools for it are in `tools/`. */
import { definePlugin } from "../../kernel/plugin.ts";

const SWEEP_MS = 3600 * 1000;

export default definePlugin({
  name: "workspace",
  needs: ["store", "storage", "kernel"],
  provides: ["workspace"],
  configure: (env) => ({
    maxMb: env.integer(
      "WORKSPACE_MAX_MB",
      500,
      { min: 1, max: 1_000_000 },
      "How many megabytes of files a user may keep in the workspace, versions of the last 30 days included",
    ),
  }),
  async start({ config, home, use, log, onStop }) {
    const { createWorkspace } = await import("./workspace.ts");
    const workspace = await createWorkspace({ ...use, ...config, home });
    onStop(workspace.close);
    if (use.kernel.serving) {
      await workspace.removeLeftovers();
      for (const { problem } of await workspace.mounts()) if (problem !== undefined) log.warn(problem);
      onStop(
        use.store.repeat("sweep workspace", SWEEP_MS, () =>
          workspace
            .sweep()
            .catch((error: unknown) => log.warn({ error }, "old versions could not be deleted")),
        ),
      );
    }
    return { workspace };
  },
  operations: {
    commands: [
      {
        name: "workspace",
        group: "Keep",
        about: "list, read, write, search and undo the files that the agent works with, and mount folders",
        example: "postern workspace ls /reports",
        // Another plugin may provide the workspace.
        everyPlugin: true,
        load: async () => (await import("./commands.ts")).register,
      },
    ],
    diagnose: async (context) => (await import("./diagnosis.ts")).examineMounts(context),
    names: {
      workspace: ({ rows, user }) =>
        rows('SELECT path AS name FROM workspace_entries WHERE "user" = ? ORDER BY path LIMIT 500', user),
    },
    tables: async () => {
      const { KEEPS, MIGRATIONS } = await import("./tables.ts");
      return [{ owner: "workspace", migrations: MIGRATIONS, keeps: KEEPS }];
    },
  },
});

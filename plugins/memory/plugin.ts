/** Memory: documents of each user, searched by words and by meaning. The model's tools for it are in `tools/`. */
import { definePlugin } from "../../kernel/plugin.ts";

export default definePlugin({
  name: "memory",
  needs: ["store", "storage"],
  provides: ["memory"],
  configure: (env) => ({
    vectors: env.flag("MEMORY_VECTORS", true, "Also search memory by meaning, with an offline model"),
  }),
  async start({ config, use, log, onStop }) {
    const { createMemory } = await import("./memory.ts");
    const memory = await createMemory({ ...use, vectors: config.vectors, log });
    onStop(memory.close);
    return { memory };
  },
  operations: {
    commands: [
      {
        name: "memory",
        group: "Keep",
        about: "list, search, show, write, remove and restore what the agent remembers",
        example: "postern memory search red bike",
        // Another plugin may provide the memory.
        everyPlugin: true,
        load: async () => (await import("./commands.ts")).register,
      },
    ],
    names: {
      memory: ({ rows, user }) =>
        rows('SELECT path AS name FROM memory_documents WHERE "user" = ? ORDER BY path LIMIT 500', user),
    },
    tables: async () => {
      const [{ KEEPS, MIGRATIONS }, { indexAllDocuments }] = await Promise.all([
        import("./tables.ts"),
        import("./word-index.ts"),
      ]);
      return [
        {
          owner: "memory",
          migrations: MIGRATIONS,
          derived: ["memory_words"],
          derive: indexAllDocuments,
          keeps: KEEPS,
        },
      ];
    },
  },
});

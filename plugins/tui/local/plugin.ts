/** The port of the terminal for the service in this process: it works as the operator. */
import { basename } from "node:path";
import { OPERATOR } from "../../../kernel/kit/people.ts";
import { askedIn } from "../../../kernel/kit/turns.ts";
import { definePlugin, Fault } from "../../../kernel/plugin.ts";
import type { Turn } from "../../agent/services.ts";

type Sent = Pick<Turn, "input" | "thread" | "answer" | "preamble" | "after">;

export default definePlugin({
  name: "terminal",
  needs: ["kernel", "agent", "threads", "attachments"],
  wants: ["tools", "jobs", "tasks", "memory", "workspace", "messaging"],
  provides: ["terminal"],
  configure: () => ({}),
  start({ use: { kernel, agent, threads, attachments, tools, jobs, tasks, memory, workspace, messaging } }) {
    async function start(turn: Sent, files: readonly string[] = []) {
      const keeping = { wantsTitle: true, survivesRestart: true };
      const mine = { user: OPERATOR, channel: "tui", work: { steers: true }, keeping };
      if (files.length === 0) return await agent.run({ ...mine, ...turn });
      const { attachments: brought, attached, alongside } = await attachments.bring(OPERATOR, files);
      const input = { ...turn.input, attachments: brought };
      return await agent.run({ ...mine, ...turn, input, attached }, alongside);
    }

    return {
      terminal: {
        version: kernel.version,
        plugins: kernel.plugins,
        watch: (listener, lost) => agent.watch(OPERATOR, listener, lost),
        send: ({ text, attachments: files, thread, model }) =>
          start({ input: { type: "message", text }, thread, answer: { model } }, files),
        answer: (input, thread) => start({ input, thread }),
        async retry(id) {
          const found = await threads.turn(OPERATOR, id);
          if (found?.input.type !== "message")
            throw new Fault(
              "invalid",
              "not_a_message",
              "Only a turn that began with a message can be retried.",
            );
          const { thread, outside, after = null } = found;
          const { text, attachments: files } = askedIn(found);
          return await start(
            { input: { type: "message", text }, thread, preamble: { outside }, after },
            files.map((file) => file.id),
          );
        },
        cancel: (turn) => agent.cancel(OPERATOR, turn),
        takeBack: (turn) => agent.takeBack(OPERATOR, turn),
        threads: {
          list: (query) => threads.list(OPERATOR, query),
          find: (thread) => threads.find(OPERATOR, thread),
          turns: async (thread, limit) =>
            (await threads.turns(OPERATOR, thread, { limit, through: "newest" })).items,
          turn: (turn) => threads.turn(OPERATOR, turn),
          contextOf: (thread) => agent.contextOf({ user: OPERATOR, channel: "tui", thread }),
          export: (thread, format) => threads.export(OPERATOR, thread, format),
          rename: (thread, title) => threads.rename(OPERATOR, thread, title),
          setModel: (thread, model) => threads.setModel(OPERATOR, thread, model),
          bin: (thread) => threads.bin(OPERATOR, thread),
          binned: async (limit) => (await threads.binned(OPERATOR, { limit })).items,
          restore: (thread) => threads.restore(OPERATOR, thread),
          emptyBin: () => threads.emptyBin(OPERATOR),
          remove: (thread) => threads.remove(OPERATOR, thread),
        },
        uploads: {
          limits: attachments.limits,
          add: (file) => attachments.add(OPERATOR, file),
          remove: (id) => attachments.remove(OPERATOR, id),
        },
        model: agent.model,
        models: () => agent.models(),
        tools: async () => (await tools?.list(OPERATOR)) ?? [],
        jobs: {
          counts: async () => (await jobs?.counts()) ?? { queued: 0, running: 0 },
          list: async (limit) => (await jobs?.list({ limit }))?.items ?? [],
        },
        tasks: {
          list: async (thread) => (await tasks?.list({ user: OPERATOR, thread })) ?? [],
          cancel: async (id) => tasks?.cancel(id),
        },
        memory: memory && {
          search: (words, limit) => memory.search(OPERATOR, words, limit),
          list: () => memory.tree(OPERATOR),
        },
        files: workspace && {
          list: (folder, query) => workspace.list(OPERATOR, folder, query),
          find: (path) => workspace.find(OPERATOR, path),
          ...(messaging && { draw: messaging.draw }),
          read: (path, length) => workspace.read(OPERATOR, path, { length }),
          async attach(path) {
            const found = await workspace.read(OPERATOR, path, { length: attachments.limits.fileBytes + 1 });
            if (!found) throw new Fault("missing", "file_not_found", `There is no file ${path}.`);
            const { entry, data } = found;
            return await attachments.add(OPERATOR, { name: basename(path), data, origins: entry.origins });
          },
          log: async (limit) => (await workspace.log(OPERATOR, { limit })).items,
          undo: (set, { thread, conflicts }) =>
            workspace.undo(OPERATOR, set, { writer: { kind: "cli", channel: "tui", thread } }, conflicts),
          usage: () => workspace.usage(OPERATOR),
        },
      },
    };
  },
});

/** Commands that list threads, tools, jobs and memory. */

import { relativeTime, typedCommand } from "../../../kernel/kit/terminal.ts";
import { dollars } from "../../../kernel/kit/words.ts";
import type { Task } from "../../../kernel/plugin.ts";
import { plural } from "../text/amounts.ts";
import { quoted, verbatim } from "../text/markdown.ts";
import type { Commands } from "./command.ts";

const MAX_LISTED = 15;

/** Indented below the task that it is a part of. */
function taskLine({ title, status, error, depth, calls, costUsd }: Task, index: number): string {
  const how = error ? `${status} (${quoted(error.code)})` : status;
  const facts = [how, plural(calls.length, "call"), dollars(costUsd)];
  return `${"  ".repeat(depth - 1)}- ${index + 1}: ${quoted(title)} — ${facts.join(", ")}`;
}

export const LISTS: Commands = {
  threads: {
    about: "list threads; /threads 2 opens the second, /threads <title> that one, /threads <words> searches",
    takes: "[number, title or words]",
    complete: (rest, { threadTitles }) =>
      threadTitles().filter((title) => title.toLowerCase().startsWith(rest.toLowerCase())),
    async run({ terminal, conversation }, rest) {
      const number = /^\d+$/.test(rest) ? Number(rest) : undefined;
      const q = number === undefined && rest !== "" ? rest : undefined;
      const { items } = await terminal.threads.list({ limit: MAX_LISTED, q });
      if (number !== undefined) {
        const chosen = items[number - 1];
        if (!chosen) return `There is no thread ${number}. /threads lists them.`;
        await conversation.open(chosen.id);
        return undefined;
      }
      const named = items.find(({ title }) => title === rest);
      if (named !== undefined) {
        await conversation.open(named.id);
        return undefined;
      }
      if (items.length === 0) return rest === "" ? "No threads yet." : "No matching threads.";
      const lines = items.map(
        ({ title, updatedAt, turns }, index) =>
          `${index + 1}. ${quoted(title)} — ${relativeTime(updatedAt)}, ${plural(turns, "turn")}`,
      );
      return `${lines.join("\n")}\n\n*/threads 1 opens the first.*`;
    },
  },
  bin: {
    about: "list the deleted threads; /bin empty deletes them for good",
    takes: "[empty]",
    complete: (rest) => ["empty"].filter((word) => word.startsWith(rest)),
    async run({ terminal: { threads }, conversation }, rest) {
      const binned = await threads.binned(MAX_LISTED);
      if (binned.length === 0) return "The bin is empty.";
      if (rest === "empty") {
        const question = "Delete all threads in the bin for good? They cannot be restored.";
        if (!(await conversation.confirm(question, "Delete"))) return "Not deleted.";
        return `Deleted ${plural(await threads.emptyBin(), "thread")} for good.`;
      }
      const lines = binned.map(
        ({ title, binnedAt, expiresAt }, index) =>
          `${index + 1}. ${quoted(title)} — deleted ${relativeTime(binnedAt)}, gone ${relativeTime(expiresAt)}`,
      );
      return `${lines.join("\n")}\n\n*/restore 1 restores the first.*`;
    },
  },
  restore: {
    about: "restore the thread that was deleted last, and open it; /restore 2 the second of /bin",
    takes: "[number]",
    async run({ terminal: { threads }, conversation }, rest) {
      const chosen = (await threads.binned(MAX_LISTED))[Number(rest || "1") - 1];
      if (!chosen)
        return rest === ""
          ? "The bin is empty."
          : `There is no thread ${quoted(rest)} in the bin. /bin lists them.`;
      await threads.restore(chosen.id);
      await conversation.open(chosen.id);
      return `Restored ${quoted(chosen.title)}.`;
    },
  },
  tools: {
    about: "list installed tools and what they may do",
    async run({ terminal }) {
      const installed = await terminal.tools();
      if (installed.length === 0)
        return `No tools are installed. Install one with \`${typedCommand()} tool install\` in another terminal.`;
      return installed
        .map(
          ({ name, version, description, grants, switchedOff, needs }) =>
            `- **${quoted(name)}** ${quoted(version)}${switchedOff ? " (switched off)" : needs ? " (needs setup)" : ""}: ${quoted(needs?.why ?? description)}\n${grants.map((grant) => `  - ${verbatim(grant)}`).join("\n")}`,
        )
        .join("\n");
    },
  },
  jobs: {
    about: "list the newest webhook jobs",
    async run({ terminal }) {
      const listed = await terminal.jobs.list(MAX_LISTED);
      if (listed.length === 0) return "No jobs.";
      return listed
        .map(
          ({ id, user, status, createdAt, error }) =>
            `- \`${id}\` ${status}${error ? ` (${quoted(error.code)})` : ""}, ${quoted(user)}, ${relativeTime(createdAt)}`,
        )
        .join("\n");
    },
  },
  tasks: {
    about:
      "list what this conversation delegated; /tasks all shows everything, /tasks open 2 opens the second, /tasks stop 2 stops it",
    takes: "[all | open number | stop number]",
    async run({ terminal: { tasks }, conversation }, rest) {
      const listed = await tasks.list(rest === "all" ? undefined : conversation.thread);
      const [, verb, number] = /^(open|stop) (\d+)$/.exec(rest) ?? [];
      if (verb !== undefined) {
        const chosen = listed[Number(number) - 1];
        if (!chosen) return `There is no task ${number}. /tasks lists them.`;
        if (verb === "stop") {
          await tasks.cancel(chosen.id);
          return `Stopped ${quoted(chosen.title)}.`;
        }
        if (chosen.thread === undefined) return `${quoted(chosen.title)} has not begun.`;
        await conversation.open(chosen.thread);
        return undefined;
      }
      if (listed.length === 0) return "Nothing was delegated.";
      const open = listed.filter(({ completedAt }) => completedAt === undefined).length;
      const failed = listed.filter(({ status }) => status === "failed").length;
      const head = `${plural(listed.length, "task")}, ${open} open, ${failed} failed:`;
      return [head, "", ...listed.map(taskLine)].join("\n");
    },
  },
  memory: {
    about: "list memory files; /memory <words> searches",
    async run({ terminal: { memory } }, rest) {
      if (!memory) return "Memory is off.";
      if (rest !== "") {
        const hits = await memory.search(rest, MAX_LISTED);
        return hits.length === 0
          ? "No matches in memory."
          : hits.map(({ path, snippet }) => `- \`${path}\`: ${quoted(snippet)}`).join("\n");
      }
      const files = await memory.list();
      return files.length === 0
        ? "Memory is empty."
        : files
            .map(
              ({ path, bytes, updatedAt }) =>
                `- \`${path}\` ${plural(bytes, "byte")}, ${relativeTime(updatedAt)}`,
            )
            .join("\n");
    },
  },
};

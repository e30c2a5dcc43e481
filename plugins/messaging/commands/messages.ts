/** `postern messages …`: what waits to be sent in chats, and what could not be. Also while the service runs. */
import { type Command, InvalidArgumentError } from "commander";
import { toWire } from "../../../kernel/kit/schema.ts";
import {
  createShortener,
  findByPrefix,
  type JsonOption,
  print,
  relativeTime,
  say,
  sayJson,
  table,
  typedCommand,
  verb,
  wholeNumber,
} from "../../../kernel/kit/terminal.ts";
import { type CommandContext, Fault } from "../../../kernel/plugin.ts";
import type { Messaging } from "../services.ts";
import { OutboxEntry, OutboxStatus } from "../wire.ts";

const MAX_LISTED = 1000;

interface ListOptions extends JsonOption {
  readonly channel?: string;
  readonly status?: OutboxStatus;
  readonly limit: number;
  readonly after?: string;
}

export function register(group: Command, context: CommandContext): void {
  verb(
    group,
    "list",
    "list messages that wait to be sent or could not be, oldest first",
    "messages list",
    "messages list --status dead --channel slack",
  )
    .option("--channel <name>", "only those of this channel")
    .option("--status <status>", OutboxStatus.enum.join(", "), parseStatus)
    .option("--limit <count>", `how many, up to ${MAX_LISTED}`, wholeNumber(MAX_LISTED), 50)
    .option("--after <id>", "go on after this one")
    .action(({ json = false, ...query }: ListOptions) =>
      context.with(["messaging"], async ({ messaging }) => {
        const entries = await messaging.list(query);
        if (json) return sayJson({ messages: entries.map((entry) => toWire(OutboxEntry, entry)) }, 2);
        if (entries.length === 0) return say("Nothing waits.\n");
        const short = createShortener(entries.map(({ id }) => id));
        const rows = entries.map(({ id, channel, user, status, attempts, createdAt, text, message = "" }) => [
          ...[short(id), channel, user, status, String(attempts), relativeTime(createdAt), text, message],
        ]);
        const isFull = entries.length === query.limit;
        const more = isFull ? `More: ${typedCommand()} messages list --after ${entries.at(-1)?.id}\n` : "";
        const heads = ["MESSAGE", "CHANNEL", "TO", "STATUS", "TRIES", "CREATED", "TEXT", "WHY"];
        await context.show(`${table(heads, rows, { cut: ["TEXT"] })}${more}`);
      }),
    );

  const act = (name: "retry" | "drop", about: string, done: string) =>
    verb(group, `${name} <id...>`, about, `messages ${name} 0197f3c2`).action(
      (given: readonly string[], options: JsonOption) =>
        context.with(["messaging"], async ({ messaging }) => {
          const ids: string[] = [];
          for (const one of given) ids.push((await find(messaging, one))?.id ?? missing(one));
          for (const id of ids) if (!(await messaging[name](id))) missing(id);
          const count = ids.length === 1 ? "1 message is" : `${ids.length} messages are`;
          print(options, { messages: ids, done: name }, `${count} ${done}.`);
        }),
    );
  act("retry", "send messages again that could not be sent", "waiting to be sent");
  act("drop", "give messages up: they are never sent", "dropped");
}

/** The beginning of an id is enough. */
function find(messaging: Messaging, id: string): Promise<OutboxEntry | undefined> {
  return findByPrefix<OutboxEntry>(id, {
    what: "message",
    find: async () => undefined,
    async list(after) {
      const items = await messaging.list({ limit: MAX_LISTED, ...(after !== undefined && { after }) });
      return items.length < MAX_LISTED ? { items } : { items, next: items.at(-1)?.id };
    },
    title: ({ text }) => text,
  });
}

function parseStatus(text: string): OutboxStatus {
  const status = OutboxStatus.enum.find((known) => known === text);
  if (status === undefined) throw new InvalidArgumentError(`Use one of ${OutboxStatus.enum.join(", ")}.`);
  return status;
}

function missing(id: string): never {
  throw new Fault(
    "missing",
    "message_not_found",
    `No message ${id} waits to be sent or could not be; "postern messages list" shows those that do.`,
  );
}

/** Images, files and sound that came with what was said: kept beside their thread, read when a model is shown them. */
import type { Attachment, Queries, Transaction, Turn, TurnItem } from "../../../kernel/plugin.ts";

/** Writes what the turn brings of the attachments that its input and its history name. */
export function writeAttachments(tx: Transaction, thread: string, turn: Turn): void {
  if (!turn.attached?.length) return;
  const named = new Map(namedIn(turn).map((attachment) => [attachment.id, attachment]));
  for (const { id, data } of turn.attached) {
    const attachment = named.get(id);
    if (attachment === undefined) continue;
    void tx.run(
      `INSERT INTO attachments (id, thread, mime, name, data) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (id, thread) DO NOTHING`,
      id,
      thread,
      attachment.mime,
      attachment.name ?? null,
      data,
    );
  }
}

function namedIn({ input, history = [] }: Turn): readonly Attachment[] {
  const own =
    input.type === "message"
      ? (input.attachments ?? [])
      : input.type === "tool_outputs"
        ? [...(input.attachments ?? []), ...input.outputs.flatMap(({ attachments = [] }) => attachments)]
        : [];
  return [...own, ...history.flatMap(attachmentsOf)];
}

function attachmentsOf(item: TurnItem): readonly Attachment[] {
  return item.type === "message" || item.type === "tool_result" ? (item.attachments ?? []) : [];
}

// A statement may have only so many values.
const AT_ONCE = 100;

/** The bytes of those that are there. */
export async function readAttachments(
  queries: Queries,
  thread: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Uint8Array>> {
  const found = new Map<string, Uint8Array>();
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    const some = ids.slice(from, from + AT_ONCE);
    const rows = await queries.all<{ id: string; data: Uint8Array }>(
      `SELECT id, data FROM attachments WHERE thread = ? AND id IN (${some.map(() => "?").join()})`,
      thread,
      ...some,
    );
    for (const { id, data } of rows) found.set(id, data);
  }
  return found;
}

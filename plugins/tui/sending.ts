/** Sends turns from here, one after the other, and knows them again when something is heard of them. */
import { randomUUID } from "node:crypto";
import type { ModelName, Services, Turn, TurnInput } from "../../kernel/plugin.ts";

/** A turn that nothing has been heard of yet. */
interface Sent {
  /** The thread that was open then. */
  readonly where: string | undefined;
  /** The message that began it. */
  readonly asked: string | undefined;
}

/** What may come with a turn beside its input. */
export type Beside = Pick<Turn, "after" | "outside"> & {
  /** Files that were uploaded, or came with an earlier message. */
  readonly files?: readonly string[];
};

export interface SendingParts {
  readonly agent: Services["agent"];
  readonly attachments: Services["attachments"];
  readonly user: string;
  /** The open thread. */
  thread(): string | undefined;
  /** For a thread that begins with the turn. */
  model(): ModelName | undefined;
  heard(id: string, where: string, sent: Sent): void;
  refused(error: unknown): void;
}

export interface Sending {
  /** Answers false where it was refused. */
  start(input: TurnInput, beside?: Beside): Promise<boolean>;
  /** The first that is heard of a turn sent from here: that it runs, or an event of it. */
  hear(id: string, where: string): void;
}

export function createSending(parts: SendingParts): Sending {
  const { agent, attachments, user, thread, heard, refused } = parts;
  const sending = new Map<string, Sent>();
  let last: Promise<unknown> = Promise.resolve();

  function hear(id: string, where: string): void {
    const sent = sending.get(id);
    if (sent === undefined) return;
    sending.delete(id);
    heard(id, where, sent);
  }

  async function begin(input: TurnInput, { files = [], ...beside }: Beside): Promise<boolean> {
    const id = randomUUID();
    const [where, model] = [thread(), parts.model()];
    sending.set(id, { where, asked: input.type === "message" ? input.text : undefined });
    try {
      const brought = files.length === 0 ? undefined : await attachments.bring(user, files);
      const turn: Turn = {
        ...{ user, channel: "tui", id, ...beside },
        input: brought && input.type === "message" ? { ...input, attachments: brought.attachments } : input,
        ...(brought && { attached: brought.attached }),
        ...(where === undefined ? model && { model } : { thread: where }),
      };
      hear(id, (await agent.run(turn, brought?.alongside)).thread);
      return true;
    } catch (error) {
      sending.delete(id);
      refused(error);
      return false;
    }
  }

  return {
    hear,
    start(input, beside = {}) {
      // The second message to a new thread has to know which thread that is.
      const begun = last.then(() => begin(input, beside));
      last = begun;
      return begun;
    },
  };
}

/** Sends what is due on a channel: in order for each line, within the service's rate, and again where it failed. */
import { setTimeout as sleep } from "node:timers/promises";
import { createMutex, oneAtATime } from "../../kernel/kit/concurrency.ts";
import { reason } from "../../kernel/plugin.ts";
import { type Content, type Failed, type FileRef, findPreview, type OutboxRow, type Part } from "./outbox.ts";
import type { ChannelParts } from "./parts.ts";
import type { ChatService, NotSent, OutgoingMessage, SentMessage } from "./services.ts";

export interface SenderParts extends Pick<ChannelParts, "service" | "outbox" | "delivery" | "log"> {
  readonly counts: Omit<ChannelParts["counts"], "received">;
  readonly timing: Pick<ChannelParts["timing"], "backoffMillis" | "sendMillis">;
  /** The bytes of files that go along; those that are gone or too large are left out. */
  load(user: string, files: readonly FileRef[]): Promise<NonNullable<OutgoingMessage["files"]>>;
}

const MAX_CONCURRENT = 8;
/** How long a service may ask us to wait, over and over. */
const MAX_AGE_MS = 3 * 86_400_000;
const MAX_WAIT_MS = 86_400_000;
/** A store that is away must not make a message be sent twice: what was sent is noted until it is. */
const NOTE_AGAIN_MS = 1000;

export function createSender(parts: SenderParts, signal: AbortSignal) {
  const { service, outbox, log, counts, timing } = parts;
  const labels = { channel: service.name };
  const canTell = service.hasKeys === true || service.lookUp !== undefined;
  /** What becomes of a message whose sending ended in an unknown way. */
  const afterUnknown = canTell || parts.delivery === "at-least-once" ? "waiting" : "unknown";
  const pace = createPace(service.limits.perSecond, signal);
  const underWay = new Map<number, Promise<void>>();
  let timer: NodeJS.Timeout | undefined;
  // Whether a claim was made of which only the database knows.
  let isUnheard = false;

  const pump = oneAtATime(async () => {
    clearTimeout(timer);
    if (signal.aborted || underWay.size >= MAX_CONCURRENT) return;
    if (isUnheard) await outbox.putBack([...underWay.keys()]);
    isUnheard = true;
    const rows = await outbox.claim(MAX_CONCURRENT - underWay.size);
    isUnheard = false;
    for (const row of rows.toSorted((a, b) => a.seq - b.seq)) {
      const sending = send(row)
        .catch((error: unknown) => log.error({ error, ...labels }, "a message could not be stored, retrying"))
        .finally(() => {
          underWay.delete(row.seq);
          wake();
        });
      underWay.set(row.seq, sending);
    }
    const millis = await outbox.nextMillis();
    if (millis !== undefined && !signal.aborted) timer = setTimeout(wake, Math.min(millis, 60_000));
  });

  function wake(): void {
    if (signal.aborted) return;
    pump().catch((error: unknown) => {
      log.error({ error, ...labels }, "outbox error, retrying");
      timer = setTimeout(wake, NOTE_AGAIN_MS);
    });
  }

  async function send(row: OutboxRow): Promise<void> {
    const { parts: messages, gate } = JSON.parse(row.content) as Content;
    let { done } = row;
    let isUnsure = row.unsure === 1;
    let attempts = Number(row.attempts);
    for (; done < messages.length; done++) {
      const outcome = await attempt(row, messages[done] as Part, done, isUnsure);
      if (outcome.sent === undefined) {
        const failed = failureOf(row, outcome, attempts);
        counts.failed.add(labels);
        if (failed.status !== "waiting")
          log.error({ ...labels, message: row.id }, `gave up on a message: ${failed.message}`);
        return void (await note(() => outbox.fail(row, failed)));
      }
      counts.sent.add(labels);
      const { sent } = outcome;
      const at = done;
      if (at + 1 === messages.length) return void (await note(() => outbox.sentAll(row, gate, sent)));
      if (!(await note(() => outbox.sentOne({ seq: row.seq, done: at })))) return;
      isUnsure = false;
      attempts = 0;
    }
  }

  async function attempt(row: OutboxRow, part: Part, at: number, isUnsure: boolean): Promise<Outcome> {
    let hasBegun = isUnsure;
    try {
      await pace(row.conversation);
      const message = await outgoing(row, part, at);
      const bound = AbortSignal.any([signal, AbortSignal.timeout(timing.sendMillis)]);
      if (isUnsure && service.lookUp) {
        const found = await inTime(service.lookUp(message, bound), bound);
        if (found) return { sent: found };
      } else if (isUnsure && !service.hasKeys) counts.repeated.add(labels);
      // A message that can be edited no more is sent anew.
      const isShown = at === 0 && service.edit && !message.files && Number(row.attempts) === 0;
      const sent = isShown ? await inTime(findPreview(service, row, bound), bound) : undefined;
      if (sent && service.edit) {
        // An edit can be made twice: its outcome need not be known.
        await inTime(service.edit(sent, message, bound), bound);
        return { sent };
      }
      hasBegun = true;
      const result = await inTime(service.send(message, bound), bound);
      return result.id === undefined ? { refused: result, isUnsure: false } : { sent: result };
    } catch (error) {
      return { refused: { message: reason(error) }, isUnsure: hasBegun };
    }
  }

  async function outgoing(row: OutboxRow, part: Part, at: number): Promise<OutgoingMessage> {
    const files = part.files?.length ? await parts.load(row.user, part.files) : [];
    return {
      key: `${row.id}-${at}`,
      conversation: row.conversation,
      text: part.text,
      ...(part.html === undefined ? {} : { html: part.html }),
      ...(part.buttons?.length ? { buttons: part.buttons } : {}),
      ...(files.length > 0 ? { files } : {}),
      ...(row.reply === null ? {} : { reply: JSON.parse(row.reply) as unknown }),
      ...(at > 0 ? { isContinued: true } : {}),
    };
  }

  function failureOf({ created_at }: OutboxRow, outcome: Refused, attempts: number): Failed {
    const { refused, isUnsure } = outcome;
    const { message } = refused;
    // A stop is no try.
    if (signal.aborted)
      return { status: isUnsure ? afterUnknown : "waiting", message, isUnsure, attempts, millis: 0 };
    if (isUnsure && afterUnknown === "unknown")
      return { status: "unknown", message, isUnsure, attempts: attempts + 1, millis: 0 };
    const asked = refused.retryMillis;
    const isOld = Date.now() - Date.parse(created_at) > MAX_AGE_MS;
    const backoff = timing.backoffMillis[attempts];
    if (refused.isFinal || (asked === undefined ? backoff === undefined : isOld))
      return { status: "dead", message, isUnsure, attempts: attempts + 1, millis: 0 };
    const millis = Math.min(asked ?? backoff ?? 0, MAX_WAIT_MS);
    return {
      status: "waiting",
      message,
      isUnsure,
      attempts: attempts + (asked === undefined ? 1 : 0),
      millis,
    };
  }

  /** Writes how it ended, as often as it takes: until then this node must not forget it. */
  async function note<Result>(write: () => Promise<Result>): Promise<Result | undefined> {
    for (;;) {
      try {
        return await write();
      } catch (error) {
        log.error({ error, ...labels }, "the end of a message could not be stored, retrying");
        if (signal.aborted) return undefined;
        await sleep(NOTE_AGAIN_MS, undefined, { signal }).catch(() => {});
      }
    }
  }

  return {
    wake,
    /** What an earlier holder was sending is sent again, or not. */
    recover: () => outbox.recover(afterUnknown),
    async idle(): Promise<void> {
      clearTimeout(timer);
      await pump().catch(() => {});
      await Promise.all(underWay.values());
    },
  };
}

type Refused = { readonly sent?: undefined; readonly refused: NotSent; readonly isUnsure: boolean };
type Outcome = { readonly sent: SentMessage } | Refused;

/** For a service that does not heed the signal. */
function inTime<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(new Error("The service did not answer in time."));
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

/** Keeps to so many messages a second, to one conversation and in all. Who waits for a conversation holds up no other. */
function createPace({ conversation: each, all }: ChatService["limits"]["perSecond"], signal: AbortSignal) {
  const inOrder = createMutex();
  const turn = (name: string, perSecond: number): Promise<void> =>
    new Promise((begin) => {
      const untilNext = () => {
        begin();
        return sleep(1000 / perSecond, undefined, { signal });
      };
      inOrder(name, untilNext).catch(() => {});
    });
  return async (conversation: string): Promise<void> => {
    await turn(`to ${conversation}`, each);
    await turn("all", all);
    signal.throwIfAborted();
  };
}

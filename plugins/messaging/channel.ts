/** One open channel. While this node holds its lease, messages come in, become jobs, and their answers are sent. */
import { setTimeout as sleep } from "node:timers/promises";
import { oneAtATime } from "../../kernel/kit/concurrency.ts";
import { createAnswers } from "./answers.ts";
import { createCommands } from "./chat-commands.ts";
import { openConversations } from "./conversations.ts";
import { createFiles } from "./files.ts";
import { createGates } from "./gates.ts";
import { openInbox } from "./inbox.ts";
import { createIntake } from "./intake.ts";
import { LEASE_LOST, openLease } from "./lease.ts";
import { createLive } from "./live.ts";
import { openOutbox } from "./outbox.ts";
import { type ChannelParts, type SharedParts, topicOf } from "./parts.ts";
import { createReceiver } from "./receiver.ts";
import { createSender } from "./sender.ts";
import type { ChatService } from "./services.ts";
import { createTaskGates } from "./task-gates.ts";
import { writeMessages } from "./text/markdown.ts";

export interface OpenChannel {
  close(): Promise<void>;
}

export async function openChannel(service: ChatService, shared: SharedParts): Promise<OpenChannel> {
  const { sql, store, log, timing, jobs } = shared;
  const { name: channel, format } = service;
  const outbox = openOutbox(sql, channel, store.node.id);
  const parts: ChannelParts = {
    ...shared,
    service,
    inbox: openInbox(sql, channel, store.node.id),
    outbox,
    conversations: openConversations(sql, channel),
    write: (markdown) => ({
      parts: writeMessages(markdown, { format, characters: service.limits.characters }),
    }),
  };
  const receiver = createReceiver(parts);
  const gates = createGates(parts);
  const taskGates = createTaskGates(parts, gates);
  const files = createFiles(parts);
  const commands = createCommands({ ...parts, gates });
  const fail = (error: unknown) => log.error({ error, channel }, "messaging error, retrying");

  async function hold(signal: AbortSignal): Promise<void> {
    // What is being sent outlives the connection for a moment.
    const sending = new AbortController();
    const sender = createSender({ ...parts, load: files.load }, sending.signal);
    const live = createLive({ ...parts, onNews: look }, signal);
    const answers = createAnswers({ ...parts, gates, files, settle: live.settle });
    const intake = createIntake(
      { ...parts, gates, files, commands, onJob: live.follow, onTaken: sender.wake },
      signal,
    );
    const lookOnce = oneAtATime(async () => {
      live.followOnly(await outbox.users());
      await answers.fillAll();
      await gates.settle(signal);
      await taskGates.ask();
      await intake.pump();
      sender.wake();
    });
    function look(): void {
      if (!signal.aborted) lookOnce().catch(fail);
    }

    // The store may be away at first. Nothing may be sent before this is done.
    while (!signal.aborted && !(await sender.recover().then(() => true, fail)))
      await sleep(timing.retryMillis, undefined, { signal }).catch(() => {});
    const poll = setInterval(look, timing.pollMillis).unref();
    const listening = store.signals.listen(topicOf(channel), (job) => {
      (job === "" ? Promise.resolve() : answers.fillFor(job)).then(sender.wake, look);
    });
    void listening.ready().then(look, look);
    await receiver.receive(signal, () => void intake.pump().catch(look));
    listening();
    clearInterval(poll);
    live.close();
    const late = setTimeout(
      () => sending.abort(),
      signal.reason === LEASE_LOST ? 0 : timing.stopMillis,
    ).unref();
    await intake.idle();
    await lookOnce().catch(() => {});
    await sender.idle();
    clearTimeout(late);
    sending.abort();
  }

  const stopListening = jobs.onCompleted((job) => {
    // If it is lost, the next look finds the job.
    if (job.channel === channel) store.signals.send(topicOf(channel), job.id).catch(() => {});
  });
  const lease = await openLease({
    ...{ sql, node: store.node, channel, log, leaseMillis: timing.leaseMillis, hold },
  });
  return {
    async close() {
      stopListening();
      await lease.stop();
      await receiver.idle();
    },
  };
}

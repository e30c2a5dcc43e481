/** Messages of a chat: each is answered, in the order of its conversation, and once where the service can tell a repeat. */
import { setTimeout as sleep } from "node:timers/promises";
import { SILENT } from "../../kernel/kit/log.ts";
import { type AnyPlugin, definePlugin } from "../../kernel/plugin.ts";
import { createMessaging } from "../../plugins/messaging/messaging.ts";
import type {
  ChatService,
  IncomingMessage,
  NotSent,
  OutgoingMessage,
  SentMessage,
} from "../../plugins/messaging/services.ts";
import { MIGRATIONS } from "../../plugins/messaging/tables.ts";
import { pause } from "./client.ts";
import { inside } from "./machine.ts";
import type { Part, SimulatedNode, World } from "./world.ts";

type Receive = ChatService["receive"];

const KIND = "chat";
const VERBS = ["say", "append", "say", "save"];
const LOOK_MS = 1000;
const POST_TIMEOUT_MS = 5000;
/** How often the service has somebody wait before it takes a message. */
const BUSY = 0.25;
const BUSY_MS = 10_000;

export function messagesPart(): Part {
  const written: IncomingMessage[] = [];
  const taken: OutgoingMessage[] = [];
  /** What arrived when its sender was dead, perhaps after another had looked for it. */
  const late = new Set<string>();
  /** What the service has yet to deliver: it forgets what was acknowledged. */
  const undelivered = new Set<IncomingMessage>();
  /** Where the service can post what is new. */
  const posts = new Map<SimulatedNode, Parameters<Receive>[0]["accept"]>();

  const acknowledge = (messages: readonly IncomingMessage[]): void => {
    for (const message of messages) undelivered.delete(message);
  };

  /** One after another, and each until a node has said that it has it. */
  async function post(world: World): Promise<void> {
    const { chance } = world.machine;
    for (;;) {
      await pause(world, LOOK_MS);
      const open = [...posts].filter(([node]) => !node.isDead);
      const [node, accept] = open[Math.floor(chance() * open.length)] ?? [];
      const [message] = undelivered;
      if (node === undefined || accept === undefined || message === undefined) continue;
      const answer = inside(node, () => accept([message])).then(
        () => true,
        () => false,
      );
      const isTaken = await Promise.race([answer, pause(world, POST_TIMEOUT_MS)]);
      // Now and then the answer is lost.
      if (isTaken && chance() < 0.9) acknowledge([message]);
    }
  }

  /** How messages come from services such as Telegram, Slack and a mailbox. */
  function receiveFrom(world: World, node: SimulatedNode): Receive {
    const { chance } = world.machine;
    /** Now and then the same is said twice in one go. */
    const batchOf = (from: Iterable<IncomingMessage>) => {
      const batch = [...from].slice(0, 1 + Math.floor(chance() * 3));
      return chance() < 0.3 ? [...batch, ...batch] : batch;
    };
    const look = (signal: AbortSignal) => sleep(LOOK_MS, undefined, { signal }).catch(() => {});
    const ways: readonly Receive[] = [
      // Asking for more acknowledges what came before.
      async (inbox, signal) => {
        for (let batch: readonly IncomingMessage[] = []; !signal.aborted; await look(signal)) {
          const before = batch;
          batch = await world.request(node, "ask for messages", () => {
            acknowledge(before);
            return batchOf(undelivered);
          });
          await inbox.accept(batch);
        }
      },
      async (inbox, signal) => {
        posts.set(node, inbox.accept);
        while (!signal.aborted) await look(signal);
        posts.delete(node);
      },
      // All is kept, and read from where the last one says that it was.
      async (inbox, signal) => {
        for (let at = Number((await inbox.position()) ?? 0); !signal.aborted; await look(signal)) {
          const batch = batchOf(written.slice(at));
          at += new Set(batch).size;
          await inbox.accept(batch, String(at));
        }
      },
    ];
    return ways[Math.floor(world.plan.seed / 3) % ways.length] as Receive;
  }

  function take(world: World, message: OutgoingMessage): SentMessage | NotSent {
    if (world.machine.chance() < BUSY) return { message: "too many messages", retryMillis: BUSY_MS };
    const known = taken.findIndex(({ key }) => key === message.key);
    if (tellingOf(world) === "keys" && known !== -1) return { id: String(known + 1) };
    return { id: String(taken.push(message)) };
  }

  function serviceOf(world: World, node: SimulatedNode): ChatService {
    return {
      name: "chat",
      format: "plain",
      limits: { characters: 1000, fileBytes: 1, buttons: 0, perSecond: { conversation: 1e6, all: 1e6 } },
      ...(tellingOf(world) === "keys" && { hasKeys: true }),
      ...(tellingOf(world) === "lookUp" && {
        lookUp: ({ key }: OutgoingMessage) =>
          world.request(node, "look for a message", () => {
            const at = taken.findIndex((one) => one.key === key);
            return at === -1 ? undefined : { id: String(at + 1) };
          }),
      }),
      receive: receiveFrom(world, node),
      send: (message, signal) => {
        const ended = new Promise<never>((_, reject) => {
          signal.addEventListener("abort", () => reject(new Error("given up")), { once: true });
        });
        return Promise.race([
          world.request(node, `send "${message.text}"`, () => {
            if (node.isDead && tellingOf(world) === "lookUp") late.add(message.text);
            return take(world, message);
          }),
          ended,
        ]);
      },
      check: async () => ({ detail: "" }),
    };
  }

  const plugin = (world: World, node: SimulatedNode) =>
    definePlugin({
      name: "chat",
      needs: ["agent", "jobs", "threads", "approvals", "attachments", "store", "settings", "kernel"],
      configure: () => ({}),
      async start({ use, log, onStop }) {
        const messaging = createMessaging({
          ...use,
          config: { delivery: "at-least-once" },
          sql: await use.store.tables("messaging", MIGRATIONS),
          identities: { account: async () => "ann" },
          accounts: { listUsers: async () => [], find: async () => undefined },
          ...{ telemetry: SILENT, log, isServing: true },
          // Whoever writes faster than the limit is told so, which is no part of this.
          agent: { ...use.agent, chatLimit: { take: async () => ({ ok: true }) } },
        } as unknown as Parameters<typeof createMessaging>[0]);
        onStop(messaging.close);
        await messaging.open(serviceOf(world, node));
      },
    });

  const isUsed = ({ plan }: World) => plan.deeds.some(({ kind }) => kind === KIND);
  const openIn = async ({ database }: World) => {
    const inbox = await database.get<{ all: number; new: number }>(
      'SELECT count(*) AS "all", count(message) AS "new" FROM messaging_inbox',
    );
    const owed = await database.get<{ count: number }>(
      "SELECT count(*) AS count FROM messaging_outbox WHERE status <> 'dead'",
    );
    return written.length - Number(inbox?.all) + Number(inbox?.new) + Number(owed?.count);
  };

  return {
    plugins: (world, node) => (isUsed(world) ? [plugin(world, node) as AnyPlugin] : []),
    begin: (world) => void post(world),
    deeds: {
      [KIND](world, { number }) {
        const id = `m${number}`;
        const text = `${VERBS[(world.plan.seed + number) % VERBS.length]} ${id}`;
        const message = { id, conversation: `chat ${number % 2}`, sender: { id: "ann" }, text };
        written.push(message);
        undelivered.add(message);
        world.note(undefined, `somebody writes "${text}"`);
      },
    },
    isDone: async (world) => !isUsed(world) || (await openIn(world)) === 0,
    async check(world) {
      if (!isUsed(world)) return;
      const dead = await world.database.all<{ content: string }>(
        "SELECT content FROM messaging_outbox WHERE status = 'dead'",
      );
      const failed = await world.database.all<{ message: string }>(
        "SELECT message FROM jobs WHERE channel = 'chat' AND (error IS NOT NULL OR response = 'failed')",
      );
      // A turn that heard several has one answer for all of them, which this model gives to the last.
      const turns = await world.database.all<{ message: string; response: string; turn: string }>(
        `SELECT message, response, coalesce(turn_items.turn, jobs.turn) AS turn
         FROM jobs LEFT JOIN turn_items ON turn_items.id = jobs.turn WHERE channel = 'chat'`,
      );
      const answerTo = ({ id, text }: IncomingMessage): string => {
        const own = turns.find(({ message }) => message === text);
        const heard = turns.filter(({ turn }) => turn === own?.turn).map(({ message }) => message);
        return written.find((one) => one.id === own?.response && heard.includes(one.text))?.id ?? id;
      };
      const twice = await world.database.all<{ message: string }>(
        "SELECT message FROM jobs WHERE channel = 'chat' GROUP BY message HAVING count(*) > 1",
      );
      for (const { message } of twice) world.violate("nothing counts twice", `"${message}" is two jobs`);
      for (const message of written) {
        const { id, conversation, text } = message;
        const answer = answerTo(message);
        const sent = taken.filter((one) => one.text === answer);
        // What the model or a restart kept from an answer was said in other words.
        const isTold = failed.some((job) => job.message === text);
        if (sent.length === 0 && !isTold && !dead.some(({ content }) => content.includes(`"${answer}"`)))
          world.violate("nothing acknowledged is lost", `${id} was not answered`);
        if (sent.some((one) => one.conversation !== conversation))
          world.violate("order within a thread", `the answer to ${id} went elsewhere`);
        // One that stood still may send what another has sent meanwhile.
        const isExcused = tellingOf(world) === "nothing" || late.has(answer) || world.hasMet("long stop") > 0;
        if (sent.length > 1 && (!isExcused || world.isUntroubled()))
          world.violate("nothing counts twice", `the answer to ${id} was sent ${sent.length} times`);
        world.count("repeated messages", Math.max(0, sent.length - 1));
      }
      for (const conversation of new Set(written.map((one) => one.conversation))) {
        const asked = written.filter((one) => one.conversation === conversation).map(({ id }) => id);
        const firsts = [...new Set(taken.map(({ text }) => text))].filter((text) => asked.includes(text));
        if (firsts.join() !== asked.filter((id) => firsts.includes(id)).join())
          world.violate(
            "order within a thread",
            `${conversation}: asked ${asked.join(", ")}; answered ${firsts.join(", ")}`,
          );
      }
    },
  };
}

/** How the service tells a repeat. */
const tellingOf = ({ plan }: World): string => ["keys", "lookUp", "nothing"][plan.seed % 3] as string;

/** Messages of a chat: each is answered, in the order of its conversation, and once where the service can tell a repeat. */
import { setTimeout as sleep } from "node:timers/promises";
import { SILENT } from "../../kernel/kit/log.ts";
import { type AnyPlugin, definePlugin } from "../../kernel/plugin.ts";
import { createMessaging } from "../../plugins/messaging/messaging.ts";
import type {
  ChatService,
  IncomingMessage,
  OutgoingMessage,
  SentMessage,
} from "../../plugins/messaging/services.ts";
import { MIGRATIONS } from "../../plugins/messaging/tables.ts";
import type { Part, SimulatedNode, World } from "./world.ts";

const KIND = "chat";
const LOOK_MS = 1000;

export function messagesPart(): Part {
  const written: IncomingMessage[] = [];
  const taken: OutgoingMessage[] = [];

  function take(world: World, message: OutgoingMessage): SentMessage {
    const known = taken.findIndex(({ key }) => key === message.key);
    if (tellingOf(world) === "keys" && known !== -1) return { id: String(known + 1) };
    return { id: String(taken.push(message)) };
  }

  function serviceOf(world: World, node: SimulatedNode): ChatService {
    const { chance } = world.machine;
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
      async receive(inbox, signal) {
        let at = Number((await inbox.position()) ?? 0);
        while (!signal.aborted) {
          // Now and then the service forgets what was acknowledged, or says the same twice in one go.
          if (chance() < 0.1) at = Math.floor(chance() * (at + 1));
          const batch = written.slice(at, at + 1 + Math.floor(chance() * 3));
          at += batch.length;
          if (batch.length > 0) await inbox.accept(chance() < 0.3 ? [...batch, ...batch] : batch, String(at));
          await sleep(LOOK_MS, undefined, { signal }).catch(() => {});
        }
      },
      send: (message, signal) => {
        const ended = new Promise<never>((_, reject) => {
          signal.addEventListener("abort", () => reject(new Error("given up")), { once: true });
        });
        return Promise.race([
          world.request(node, `send "${message.text}"`, () => take(world, message)),
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
    deeds: {
      [KIND](world, { number }) {
        written.push({
          ...{ id: `m${number}`, conversation: `chat ${number % 2}`, sender: { id: "ann" } },
          text: `say m${number}`,
        });
        world.note(undefined, `somebody writes "say m${number}"`);
      },
    },
    isDone: async (world) => !isUsed(world) || (await openIn(world)) === 0,
    async check(world) {
      if (!isUsed(world)) return;
      const dead = await world.database.all<{ content: string }>(
        "SELECT content FROM messaging_outbox WHERE status = 'dead'",
      );
      const failed = await world.database.all<{ message: string }>(
        "SELECT message FROM jobs WHERE channel = 'chat' AND (error LIKE '%model_%' OR error LIKE '%interrupted%')",
      );
      for (const { id, conversation } of written) {
        const sent = taken.filter(({ text }) => text === id);
        // What the model or a restart kept from an answer was said in other words.
        const isTold = failed.some(({ message }) => message === `say ${id}`);
        if (sent.length === 0 && !isTold && !dead.some(({ content }) => content.includes(`"${id}"`)))
          world.violate("nothing acknowledged is lost", `${id} was not answered`);
        if (sent.some((one) => one.conversation !== conversation))
          world.violate("order within a thread", `the answer to ${id} went elsewhere`);
        // One that stood still may send what another has sent meanwhile.
        const isExcused = tellingOf(world) === "nothing" || world.hasMet("long stop") > 0;
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

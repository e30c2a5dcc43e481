/** The channel against Postern's contract suite, with a small chat service in this process. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import test from "node:test";
import { channelContract } from "postern/channel-contract";
import plugin from "./channel.ts";

/** Keeps what people say until it is asked for, and hands the answers to whoever waits for them. */
async function startChatService() {
  const updates: { id: number; chat: string; from: string; text: string }[] = [];
  const readers = new Set<() => void>();
  const answers = new Map<string, (text: string) => void>();
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
    if (pathname === "/messages") {
      const { chat, text } = JSON.parse((await request.toArray()).join(""));
      answers.get(chat)?.(text);
      response.end();
      return;
    }
    const reply = () => {
      const fresh = updates.filter(({ id }) => id > Number(searchParams.get("after")));
      if (fresh.length === 0) return;
      readers.delete(reply);
      response.end(JSON.stringify(fresh));
    };
    readers.add(reply);
    response.on("close", () => readers.delete(reply));
    reply();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    say: (chat: string, text: string) =>
      new Promise<string>((resolve) => {
        answers.set(chat, resolve);
        updates.push({ id: updates.length + 1, chat, from: `person-${chat}`, text });
        for (const reply of [...readers]) reply();
      }),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

let chats = 0;
let service: Awaited<ReturnType<typeof startChatService>>;
test.before(async () => {
  service = await startChatService();
});
test.after(() => service.close());

const clauses = channelContract({
  plugin,
  // The service starts before the clauses run, so its address is read when they do.
  get settings() {
    return { "{{SETTING}}_URL": service.url };
  },
  off: {},
  async connect() {
    const chat = `chat-${++chats}`;
    return { say: (text) => service.say(chat, text), close() {} };
  },
});

for (const { title, run } of clauses) test(title, run);

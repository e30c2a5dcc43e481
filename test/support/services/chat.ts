/** A chat service of the test's own behind the real messaging, store, agent and accounts, that does what it is told. */
import { setTimeout as sleep } from "node:timers/promises";
import { type AnyPlugin, definePlugin } from "../../../kernel/plugin.ts";
import type { Variables } from "../../../kernel/settings/env.ts";
import messaging from "../../../plugins/messaging/plugin.ts";
import type {
  ChatService,
  Inbox,
  IncomingMessage,
  NotSent,
  OutgoingMessage,
  SentMessage,
} from "../../../plugins/messaging/services.ts";
import store from "../../../plugins/store/plugin.ts";
import telemetry from "../../../plugins/telemetry/plugin.ts";
import type { ModelServer } from "../servers/model-server.ts";
import { agentPlugins } from "./agent-plugins.ts";
import { type BootedKernel, bootKernel } from "./kernel.ts";

export interface FakeChat {
  readonly service: ChatService;
  /** What was sent, in the order in which it came. */
  readonly sent: OutgoingMessage[];
  readonly edited: { readonly sent: SentMessage; readonly message: OutgoingMessage }[];
  readonly typing: string[];
  /** Resolves with the inbox of whoever holds the channel. */
  inbox(): Promise<Inbox>;
  /** A person writes something. */
  write(text: string, more?: Partial<IncomingMessage>): Promise<void>;
  /** The first message sent from now or before for which this holds. */
  until(holds: (message: OutgoingMessage) => boolean): Promise<OutgoingMessage>;
  /** How the next sends end; those after them succeed. */
  readonly outcomes: ((message: OutgoingMessage) => Promise<SentMessage | NotSent>)[];
}

export function createFakeChat(over: Partial<ChatService> = {}): FakeChat {
  const sent: OutgoingMessage[] = [];
  const edited: FakeChat["edited"] = [];
  const typing: string[] = [];
  const outcomes: FakeChat["outcomes"] = [];
  let ready = Promise.withResolvers<Inbox>();
  let count = 0;
  const service: ChatService = {
    name: "fake",
    format: "plain",
    limits: {
      characters: 4000,
      fileBytes: 1_000_000,
      buttons: 8,
      perSecond: { conversation: 1000, all: 1000 },
    },
    async receive(inbox, signal) {
      ready.resolve(inbox);
      inbox.report({ isConnected: true, detail: "@fake" });
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      ready = Promise.withResolvers();
    },
    async send(message) {
      const outcome = outcomes.shift();
      if (outcome) return outcome(message);
      sent.push(message);
      return { id: String(sent.length) };
    },
    async edit(known, message) {
      edited.push({ sent: known, message });
    },
    async showTyping(conversation) {
      typing.push(conversation);
    },
    check: async () => ({ detail: "@fake" }),
    ...over,
  };
  return {
    service,
    sent,
    edited,
    typing,
    outcomes,
    inbox: () => ready.promise,
    async write(text, more = {}) {
      const inbox = await ready.promise;
      count++;
      await inbox.accept(
        [{ id: `m${count}`, conversation: "c1", sender: { id: "ann" }, text, ...more }],
        String(count),
      );
    },
    async until(holds) {
      for (;;) {
        const found = sent.find(holds);
        if (found) return found;
        await sleep(10);
      }
    },
  };
}

/** A channel's plugin as a third party writes it. */
function fakeChannel({ service }: Pick<FakeChat, "service">): AnyPlugin {
  const plugin = definePlugin({
    name: service.name,
    kind: "channel",
    needs: ["messaging"],
    configure: () => ({}),
    async start({ use, onStop, announce }) {
      onStop(await use.messaging.open(service));
      announce(`messages of ${service.name}`);
    },
  });
  return plugin as AnyPlugin;
}

export async function bootChat(
  chat: Pick<FakeChat, "service">,
  variables: Variables = {},
  options: {
    readonly home?: string;
    readonly plugins?: readonly AnyPlugin[];
    readonly model?: Pick<ModelServer, "url">;
  } = {},
): Promise<BootedKernel> {
  const { home, plugins = [], model } = options;
  const all = [store, telemetry, ...plugins, ...agentPlugins, messaging, fakeChannel(chat)];
  const asked = model ? { MODEL_BASE_URL: model.url, MODEL_NAME: "scripted" } : { MODEL_PROVIDER: "builtin" };
  const settings = { ...asked, ...variables };
  return bootKernel(all as readonly AnyPlugin[], settings, home === undefined ? {} : { home });
}

/** Adds the account and says that the sender is it. */
export async function pairSender(
  kernel: Pick<BootedKernel, "service">,
  identity = "fake/ann",
  account = "ann",
): Promise<void> {
  const known = await kernel.service("accounts").find(account);
  if (!known) await kernel.service("accounts").addUser(account, "user");
  await kernel.service("identities").pair(identity, account);
}

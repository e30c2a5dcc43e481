/** E-mail keeps the one contract of channels, with real mail servers between the person and the service. */
import { beforeAll, test } from "vitest";
import type { Running } from "../../../kernel/kernel.ts";
import { type AnyPlugin, definePlugin } from "../../../kernel/plugin.ts";
import email from "../../../plugins/email/plugin.ts";
import messaging from "../../../plugins/messaging/plugin.ts";
import { type ChannelUnderTest, channelContract } from "../../channel-contract/channel-contract.ts";
import {
  AGENT,
  ANN,
  describeWithMail,
  type MailServers,
  startMailServers,
} from "../../support/servers/mail-server.ts";
import { pairSender } from "../../support/services/chat.ts";
import { connected } from "../../support/services/email.ts";
import { afterThisFile } from "../../support/undo.ts";

/** A mail program does not notice that a service has stopped: whoever waits for an answer is told by this. */
let over: AbortSignal | undefined;
const stopping = definePlugin({
  name: "stopping",
  configure: () => ({}),
  start({ onStop }) {
    const controller = new AbortController();
    over = controller.signal;
    onStop(() => controller.abort());
  },
});

describeWithMail("e-mail", () => {
  const later = afterThisFile();
  let servers: MailServers;
  beforeAll(async () => {
    servers = await startMailServers(later);
  });
  const ready = new WeakMap<Running, Promise<void>>();
  /** The person is paired, and the mailbox is watched: what came before the first time is not answered. */
  const prepare = async (running: Running) => {
    if (!(await running.service("identities").account(`email/${ANN}`)))
      await pairSender(running, `email/${ANN}`);
    await connected(running);
  };
  let count = 0;
  const channel: ChannelUnderTest = {
    plugin: email as AnyPlugin,
    companions: [messaging as AnyPlugin, stopping as AnyPlugin],
    get settings() {
      return servers.settings;
    },
    off: { EMAIL_ENABLED: "false" },
    async connect({ running }) {
      if (!ready.has(running)) ready.set(running, prepare(running));
      await ready.get(running);
      return {
        async say(text) {
          const signal = over;
          const messageId = `<${++count}.${process.pid}@honest.test>`;
          await servers.send({ from: ANN, to: AGENT, text, messageId });
          const isAnswer = ({ inReplyTo }: { readonly inReplyTo?: string | undefined }) =>
            inReplyTo === messageId;
          return (await servers.find(ANN, isAnswer, signal)).text ?? "";
        },
        close: () => {},
      };
    },
  };
  for (const { title, run } of channelContract(channel)) test(title, run);
});

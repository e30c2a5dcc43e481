/** E-mail keeps the one contract of channels, with real mail servers between the person and the service. */
import { beforeAll, test } from "vitest";
import type { Running } from "../../../kernel/kernel.ts";
import type { AnyPlugin } from "../../../kernel/plugin.ts";
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

/** A mail program does not notice that a service has stopped; the contract waits a little longer than this. */
const GIVE_UP_MS = 30_000;

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
    companions: [messaging as AnyPlugin],
    get settings() {
      return servers.settings;
    },
    off: { EMAIL_ENABLED: "false" },
    async connect({ running }) {
      if (!ready.has(running)) ready.set(running, prepare(running));
      await ready.get(running);
      return {
        async say(text) {
          const messageId = `<${++count}.${process.pid}@honest.test>`;
          await servers.send({ from: ANN, to: AGENT, text, messageId });
          const isAnswer = ({ inReplyTo }: { readonly inReplyTo?: string | undefined }) =>
            inReplyTo === messageId;
          return (await servers.find(ANN, isAnswer, GIVE_UP_MS)).text ?? "";
        },
        close: () => {},
      };
    },
  };
  for (const { title, run } of channelContract(channel)) test(title, run);
});

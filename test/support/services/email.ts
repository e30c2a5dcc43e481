/** The e-mail service without messaging: an inbox of the test's own takes what it hands over. */
import { setTimeout as sleep } from "node:timers/promises";
import { createLog } from "../../../kernel/log/log.ts";
import { createMask } from "../../../kernel/mask/mask.ts";
import { type AnyPlugin, type Limiter, Off } from "../../../kernel/plugin.ts";
import { Settings, type Variables } from "../../../kernel/settings/env.ts";
import { createEmail } from "../../../plugins/email/email.ts";
import email from "../../../plugins/email/plugin.ts";
import { createMailReader } from "../../../plugins/email/reading/mail-reader.ts";
import { readSettings } from "../../../plugins/email/settings.ts";
import messaging from "../../../plugins/messaging/plugin.ts";
import type { ChatService, IncomingMessage } from "../../../plugins/messaging/services.ts";
import store from "../../../plugins/store/plugin.ts";
import telemetry from "../../../plugins/telemetry/plugin.ts";
import type { MailServers } from "../servers/mail-server.ts";
import type { ModelServer } from "../servers/model-server.ts";
import { afterThisTest } from "../undo.ts";
import { toolsPlugin } from "./agent.ts";
import { agentPlugins } from "./agent-plugins.ts";
import { type BootedKernel, bootKernel } from "./kernel.ts";

export interface OpenEmail {
  readonly service: ChatService;
  /** Waits for so many messages. */
  messages(count: number): Promise<readonly IncomingMessage[]>;
  /** Waits until it has read all there is and waits for more. */
  idle(): Promise<void>;
  readonly logged: readonly string[];
  position(): string | undefined;
  stop(): Promise<void>;
}

export interface Kept {
  readonly messages: Map<string, IncomingMessage>;
  position: string | undefined;
}

const counter = (limit: number): Limiter => {
  const counts = new Map<string, number>();
  const verdict = (count: number) => ({
    ok: count <= limit,
    limit,
    windowSecs: 86_400,
    remaining: Math.max(0, limit - count),
    resetSecs: 3600,
  });
  return {
    take: async (key) => {
      const count = (counts.get(key) ?? 0) + 1;
      if (count <= limit) counts.set(key, count);
      return verdict(count);
    },
    peek: async (key) => verdict((counts.get(key) ?? 0) + 1),
  };
};

export async function openEmail(
  variables: Readonly<Record<string, string>>,
  kept: Kept = { messages: new Map(), position: undefined },
  later = afterThisTest,
): Promise<OpenEmail> {
  const config = readSettings(new Settings(variables).for("email"));
  if (config instanceof Off) throw new Error(config.why);
  const logged: string[] = [];
  const log = createLog("debug", createMask(), { pretty: false, write: (line) => void logged.push(line) });
  const reader = createMailReader();
  const service = createEmail({
    config,
    reader,
    senders: counter(config.limits.sender),
    sent: counter(config.limits.daily),
    begin() {},
    log,
  });
  // The server knows the time of a mail in seconds: what another test sent must not be in the first of this one.
  const second = () => Math.trunc(Date.now() / 1000);
  // A timer may fire a moment before its time.
  for (const now = second(); kept.position === undefined && second() === now; )
    await sleep(1000 - (Date.now() % 1000));
  const over = new AbortController();
  let isIdle = false;
  let failed: unknown;
  const received = service
    .receive(
      {
        position: async () => kept.position,
        async accept(messages, position) {
          for (const message of messages)
            if (!kept.messages.has(message.id)) kept.messages.set(message.id, message);
          kept.position = position ?? kept.position;
          isIdle = false;
        },
        commands: [],
        report({ isConnected }) {
          isIdle = isConnected;
        },
      },
      over.signal,
    )
    .catch((error) => {
      failed = error;
    });
  const wait = async (isDone: () => boolean) => {
    while (!isDone()) {
      if (failed) throw failed;
      await sleep(10);
    }
  };
  const stop = async () => {
    over.abort();
    await received;
    await reader.close();
  };
  later(stop);
  await wait(() => isIdle);
  return {
    service,
    logged,
    position: () => kept.position,
    async messages(count) {
      await wait(() => kept.messages.size >= count);
      return [...kept.messages.values()];
    },
    idle: () => wait(() => isIdle),
    stop,
  };
}

/** The channel in a kernel with the real messaging, store, agent and accounts. */
export async function bootEmail(
  { settings }: Pick<MailServers, "settings">,
  model: Pick<ModelServer, "url">,
  variables: Variables = {},
  options: { readonly home?: string } = {},
): Promise<BootedKernel> {
  const plugins = [store, telemetry, toolsPlugin({}), ...agentPlugins, messaging, email];
  const all = { MODEL_BASE_URL: model.url, MODEL_NAME: "scripted", ...settings, ...variables };
  const kernel = await bootKernel(plugins as readonly AnyPlugin[], all, options);
  await connected(kernel);
  return kernel;
}

/** Waits until the mailbox is watched. */
export async function connected(kernel: Pick<BootedKernel, "service">): Promise<void> {
  const isConnected = async () =>
    (await kernel.service("messaging").channels()).some((one) => one.name === "email" && one.isConnected);
  while (!(await isConnected())) await sleep(20);
}

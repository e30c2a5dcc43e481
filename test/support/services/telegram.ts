/** The Telegram service against the test's own Bot API, with an inbox that keeps what it gets. */
import { createLog } from "../../../kernel/log/log.ts";
import { createMask } from "../../../kernel/mask/mask.ts";
import { CHAT_COMMANDS } from "../../../plugins/messaging/chat-commands.ts";
import type { ChatService, Inbox, IncomingMessage } from "../../../plugins/messaging/services.ts";
import type { TelegramConfig } from "../../../plugins/telegram/settings.ts";
import { createTelegram } from "../../../plugins/telegram/telegram.ts";
import { startTelegram, type TelegramServer } from "../servers/telegram.ts";
import { afterThisTest, type Later } from "../undo.ts";

export interface TelegramUnderTest {
  readonly telegram: TelegramServer;
  readonly service: ChatService;
  /** Each message once, by its id, as messaging keeps them. */
  readonly accepted: ReadonlyMap<string, IncomingMessage>;
  /** How often a message came that was there before. */
  readonly repeats: () => number;
  readonly reports: readonly { readonly isConnected: boolean; readonly detail?: string }[];
  readonly logged: readonly string[];
  /** The next `accept` rejects, as a store that is away makes it. */
  breakInbox(): void;
  /** Receives until the test is over, or stopped. */
  receive(): { stop(): void; readonly ended: Promise<void> };
  readonly signal: AbortSignal;
}

export async function telegramUnderTest(
  config: Partial<TelegramConfig> = {},
  later: Later = afterThisTest,
): Promise<TelegramUnderTest> {
  const telegram = await startTelegram();
  later(telegram.close);
  const logged: string[] = [];
  const log = createLog("debug", createMask(), { pretty: false, write: (line) => void logged.push(line) });
  const parts = { log: log.child("telegram"), announce: () => {} };
  const service = createTelegram({
    config: { token: telegram.token, apiUrl: telegram.url, ...config },
    ...parts,
  });
  const accepted = new Map<string, IncomingMessage>();
  const reports: { readonly isConnected: boolean; readonly detail?: string }[] = [];
  let repeats = 0;
  let isBroken = false;
  const inbox: Inbox = {
    position: async () => undefined,
    commands: CHAT_COMMANDS,
    async accept(messages) {
      if (isBroken) {
        isBroken = false;
        throw new Error("the store is away");
      }
      for (const message of messages) {
        if (accepted.has(message.id)) repeats += 1;
        else accepted.set(message.id, message);
      }
    },
    report: (state) => void reports.push(state),
  };
  return {
    telegram,
    service,
    accepted,
    repeats: () => repeats,
    reports,
    logged,
    breakInbox() {
      isBroken = true;
    },
    receive() {
      const stop = new AbortController();
      const ended = service.receive(inbox, stop.signal);
      ended.catch(() => {});
      later(async () => {
        stop.abort();
        await ended.catch(() => {});
      });
      return { stop: () => stop.abort(), ended };
    },
    signal: new AbortController().signal,
  };
}

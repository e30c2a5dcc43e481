/** The socket on which Slack sends what happens. Each envelope is acknowledged once its message is on disk. */
import { SocketModeClient } from "@slack/socket-mode";
import type { Log } from "../../kernel/plugin.ts";
import { quietLogger, type SlackClient, tokenFault } from "./client.ts";
import { APP_TOKEN, type SlackSettings } from "./settings.ts";

export interface ConnectionParts {
  readonly settings: SlackSettings;
  readonly client: SlackClient;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Resolves when the envelope may be acknowledged. */
  take(type: string, body: unknown): Promise<void>;
  onConnected(): void;
  onDisconnected(): void;
}

/** The socket ends without Slack's answer after so long. */
const CLOSE_TIMEOUT_MS = 2000;
/** Slack ends a connection every few hours. One that ends at once again and again is a failure. */
const SHORT_LIFE_MS = 10_000;
const MAX_SHORT_LIVES = 3;

interface Envelope {
  readonly type: string;
  readonly body: unknown;
  ack(): Promise<void>;
}

/** Slack's client reads a frame in a promise that nobody holds: what it cannot read must not end the process. */
class CarefulClient extends SocketModeClient {
  onUnreadable: (error: unknown) => void = () => {};

  protected override async onWebSocketMessage(data: string | ArrayBuffer, isBinary: boolean): Promise<void> {
    await super.onWebSocketMessage(data, isBinary).catch((error: unknown) => this.onUnreadable(error));
  }
}

/** Holds a connection until the signal aborts. Rejects where Slack cannot be reached, or an envelope could not be kept. */
export async function holdConnection(parts: ConnectionParts): Promise<void> {
  const { signal } = parts;
  for (let shortLives = 0; !signal.aborted; ) {
    const openedAt = performance.now();
    await holdOnce(parts);
    shortLives = performance.now() - openedAt < SHORT_LIFE_MS ? shortLives + 1 : 0;
    if (shortLives > MAX_SHORT_LIVES && !signal.aborted)
      throw new Error("Slack ends each connection soon after it was opened");
  }
}

async function holdOnce({ settings, client, log, signal, ...on }: ConnectionParts): Promise<void> {
  const { dispatcher, destroy } = await watchSocket(client);
  const slack = new CarefulClient({
    appToken: settings.appToken,
    // Its own reconnecting waits five seconds, and an error in it is caught by nobody.
    autoReconnectEnabled: false,
    logger: quietLogger(log),
    dispatcher,
    clientOptions: {
      slackApiUrl: settings.apiUrl.href,
      fetch: client.fetchFor(signal),
      retryConfig: { retries: 0 },
      rejectRateLimitedCalls: true,
    },
  });
  slack.onUnreadable = (error) => log.warn({ error }, "Slack sent something that cannot be read");
  const over = Promise.withResolvers<void>();
  slack.on("disconnected", () => over.resolve());
  // One after the other, so that what a person wrote first is first in the inbox.
  let taking = Promise.resolve();
  slack.on("slack_event", ({ type, body, ack }: Envelope) => {
    taking = taking
      .then(() => on.take(type, body))
      // Slack sends again what it has no answer for.
      .then(() => ack().catch(() => {}))
      .catch(over.reject);
  });
  const stop = () => {
    void slack.disconnect();
    setTimeout(() => {
      destroy();
      over.resolve();
    }, CLOSE_TIMEOUT_MS).unref();
  };
  signal.addEventListener("abort", stop, { once: true });
  try {
    await slack.start().catch((error: unknown) => {
      if (signal.aborted) return;
      throw (
        tokenFault(error, APP_TOKEN) ?? error ?? new Error("Slack ended the connection before it was open")
      );
    });
    if (signal.aborted) stop();
    else on.onConnected();
    await over.promise;
  } finally {
    signal.removeEventListener("abort", stop);
    if (!signal.aborted) {
      on.onDisconnected();
      void slack.disconnect();
    }
    await taking;
    destroy();
  }
}

/** Our own way out, with the socket in reach: one whose other end is gone would stay open. */
async function watchSocket({ outbound }: SlackClient) {
  const inner = await outbound.dispatcher();
  let socket: { destroy(): void } | undefined;
  type Handler = Parameters<typeof inner.dispatch>[1];
  return {
    destroy: () => socket?.destroy(),
    dispatcher: {
      dispatch: (options: Parameters<typeof inner.dispatch>[0], handler: Handler) => {
        const upgrade = handler.onRequestUpgrade?.bind(handler);
        const watched: Handler = Object.create(handler, {
          onRequestUpgrade: {
            value: (...given: Parameters<NonNullable<Handler["onRequestUpgrade"]>>) => {
              socket = given[3];
              return upgrade?.(...given);
            },
          },
        });
        return inner.dispatch(options, watched);
      },
    },
  };
}

/** What the modules of a channel work with. Each picks what it uses. */
import type { Log, Services, Sql } from "../../kernel/plugin.ts";
import type { Counter } from "../telemetry/services.ts";
import type { Pictures } from "./charts/pictures.ts";
import type { ConversationTable } from "./conversations.ts";
import type { InboxTable } from "./inbox.ts";
import type { Content, OutboxTable } from "./outbox.ts";
import type { Requests } from "./requests.ts";
import type { ChatService } from "./services.ts";
import type { MessagingSettings } from "./settings.ts";

/** The services of other plugins. */
export interface UsedServices {
  readonly store: Services["store"];
  readonly jobs: Services["jobs"];
  readonly threads: Services["threads"];
  readonly identities: Services["identities"];
  readonly accounts: Services["accounts"];
  readonly approvals: Services["approvals"];
  readonly attachments: Services["attachments"];
  readonly agent: Services["agent"];
  readonly workspace?: Services["workspace"] | undefined;
  readonly tasks?: Services["tasks"] | undefined;
  readonly sql: Sql;
  readonly log: Log;
}

export interface SharedParts extends UsedServices {
  readonly requests: Requests;
  readonly pictures: Pictures;
  readonly delivery: MessagingSettings["delivery"];
  readonly counts: Readonly<Record<"received" | "sent" | "failed" | "repeated", Counter>>;
  readonly timing: Timing;
}

export interface ChannelParts extends SharedParts {
  readonly service: ChatService;
  readonly inbox: InboxTable;
  readonly outbox: OutboxTable;
  readonly conversations: ConversationTable;
  /** Writes Markdown as the service shows it. */
  write(markdown: string): Content;
}

export interface Timing {
  readonly leaseMillis: number;
  /** How often the holder looks for what no signal told it. */
  readonly pollMillis: number;
  /** Before a connection that broke is made again; the last one counts for all later ones. */
  readonly reconnectMillis: readonly number[];
  /** Before a message that could not be dealt with is tried again. */
  readonly retryMillis: number;
  /** How long sending may take to end when the service stops. */
  readonly stopMillis: number;
  readonly sendMillis: number;
  /** Before each further try to send; then it is a dead letter. */
  readonly backoffMillis: readonly number[];
}

/** Nodes signal each other on it that something waits on a channel. */
export const topicOf = (channel: string): string => `messaging ${channel}`;

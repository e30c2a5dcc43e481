/** Mounts the agent's routes, and the socket with the events of the turns that they start. */
import { SILENT } from "../../../kernel/kit/log.ts";
import { Type } from "../../../kernel/kit/schema.ts";
import type { StartContext } from "../../../kernel/plugin.ts";
import { readTurnSettings } from "../settings.ts";
import { approvalRoutes } from "./approvals.ts";
import { attachmentRoutes } from "./attachments.ts";
import { chatRoutes } from "./chat.ts";
import { SOCKET_PATH, SocketFrame } from "./frame.ts";
import { createSockets, resumePoint } from "./sockets.ts";
import { threadRoutes } from "./threads.ts";
import { usageRoutes } from "./usage.ts";

const SOCKET = {
  path: SOCKET_PATH,
  tag: "chat",
  summary: "Open a WebSocket that streams every turn of this user as `SocketFrame`s",
  scoped: true,
  // A client sends nothing but the frames that keep a connection alive.
  largestMessage: 1024,
  bytesPerMinute: 256 * 1024,
  frames: SocketFrame,
  query: Type.Object({
    stream: Type.Optional(Type.String({ description: "The `stream` of the `hello` frame before the drop" })),
    after: Type.Optional(Type.Integer({ description: "The `id` of the last frame seen in it" })),
  }),
};

// A message takes a few writes around it: files, an answer at a gate, a new title.
const WRITES_PER_MESSAGE = 10;
const MIN_WRITES = 300;

type Needed =
  | "agent"
  | "threads"
  | "attachments"
  | "approvals"
  | "identities"
  | "store"
  | "storage"
  | "settings"
  | "web";
type Wanted = "tools" | "toolAdmin" | "telemetry";

export async function startRoutes({ use, onStop }: StartContext<object, Needed, Wanted>): Promise<void> {
  const live = await use.settings.live("agent", readTurnSettings);
  const writeLimit = use.store.limiter({
    name: "writes",
    windows: async () => {
      const { chatRateLimit } = await live.current();
      return [{ limit: Math.max(MIN_WRITES, WRITES_PER_MESSAGE * chatRateLimit), seconds: 60 }];
    },
    isKept: false,
  });
  onStop(writeLimit.close);
  onStop(use.web.limitWrites(writeLimit));
  const { metrics } = use.telemetry ?? SILENT;
  const sockets = createSockets(use.agent);
  onStop(sockets.close);
  metrics.gauge("postern_streams", "Users whose events are kept for a socket", sockets.streams);
  const parts = { ...use, follow: sockets.follow };
  onStop(
    use.web.mountSocket({
      ...SOCKET,
      accept: (socket, user, query) => sockets.connect(socket, user, resumePoint(query)),
    }),
  );
  onStop(
    use.web.mount([
      ...chatRoutes(parts),
      ...threadRoutes(use),
      ...attachmentRoutes(use),
      ...approvalRoutes(parts),
      ...usageRoutes(use),
    ]),
  );
}

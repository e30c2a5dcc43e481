/** Opens the stores and mounts all endpoints: responses in both dialects, and what clients of today expect beside them. */
import type { StartContext } from "../../../kernel/plugin.ts";
import { createAnswers } from "../answer/answer.ts";
import { createRemoteFiles } from "../resolve/attachments.ts";
import { createJoinConversation } from "../resolve/conversation.ts";
import { createStoredConversations } from "../stored/conversations.ts";
import { createStoredFiles } from "../stored/files.ts";
import { createRequests } from "../stored/requests.ts";
import { createSeals } from "../stored/seals.ts";
import { startSweep } from "../stored/sweep.ts";
import { createTurnLocations } from "../stored/turn-location.ts";
import { createIntake } from "../turn/intake.ts";
import { PREFIXES } from "../wire/format.ts";
import { completionEndpoints } from "./completions.ts";
import { contextEndpoints } from "./context.ts";
import { conversationEndpoints } from "./conversations.ts";
import { embeddingEndpoint } from "./embeddings.ts";
import { type EndpointParts, type EndpointServices, mountEndpoints } from "./endpoint.ts";
import { fileEndpoints } from "./files.ts";
import { modelEndpoints } from "./models.ts";
import { responseEndpoints } from "./responses.ts";
import { mountResponseSocket } from "./socket.ts";

interface Config {
  readonly timeoutSecs: number;
  readonly replay: boolean;
  readonly maxFileBytes: number;
  readonly maxTotalBytes: number;
}

export async function mountAll({
  config,
  use,
  log,
  onStop,
}: Pick<StartContext<Config, EndpointServices, "toolCalls">, "config" | "use" | "log" | "onStop">) {
  const { replay, timeoutSecs, maxFileBytes, maxTotalBytes } = config;
  const { store, storage, threads } = use;
  const { requests, sql } = await createRequests(store);
  const locations = createTurnLocations({ ...use, requests });
  const files = await createStoredFiles(store, maxTotalBytes, storage);
  onStop(startSweep({ store, requests, files, locations, threads, log }));
  const remote = createRemoteFiles();
  onStop(remote.close);
  const seals = await createSeals(store);
  const conversations = await createStoredConversations(store, storage, threads);
  const pageOf = (thread: string) => `${use.web.url}/#/chat/${thread}`;
  const attachments = { remote, resolveFile: files.resolveFile, textOf: use.attachments.textOf };
  const shared = { ...use, ...seals, sql, requests, locations, log, pageOf };
  const parts: EndpointParts = {
    ...{ ...shared, conversations, files, maxFileBytes, seals },
    intake: createIntake({ ...shared, attachments, replay }),
    chatIntake: createIntake({ ...shared, attachments, replay: true }),
    answers: createAnswers({ ...shared, timeoutSecs }),
    joinConversation: createJoinConversation(threads, conversations),
  };
  const models = modelEndpoints(parts);
  onStop(mountEndpoints(parts, PREFIXES.strict, [...responseEndpoints(parts, "strict"), models[0]]));
  const open = [
    ...responseEndpoints(parts, "open"),
    ...models,
    ...fileEndpoints(parts),
    embeddingEndpoint(parts),
    ...completionEndpoints(parts),
    ...contextEndpoints(parts),
    ...conversationEndpoints(parts),
  ];
  onStop(mountEndpoints(parts, PREFIXES.open, open));
  for (const prefix of PREFIXES.open) onStop(mountResponseSocket(parts, `${prefix}/responses`));
}

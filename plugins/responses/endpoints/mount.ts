/** The endpoints beside `/responses` that clients of today expect under one base URL. */

import { OPEN } from "../wire/dialect.ts";
import { type CompletionParts, completionEndpoints } from "./completions.ts";
import { type ContextParts, contextEndpoints } from "./context.ts";
import { type ConversationParts, conversationEndpoints } from "./conversations.ts";
import { type EmbeddingParts, embeddingEndpoint } from "./embeddings.ts";
import { type Endpoint, type Mounting, mountEndpoints } from "./endpoint.ts";
import { type FileParts, fileEndpoints } from "./files.ts";
import { type ModelParts, modelById, modelList } from "./models.ts";
import { mountResponseSocket, type SocketParts } from "./socket.ts";

export interface ResourceParts
  extends Mounting,
    ModelParts,
    FileParts,
    EmbeddingParts,
    CompletionParts,
    ContextParts,
    ConversationParts,
    SocketParts {}

export function mountResources(parts: ResourceParts): void {
  const endpoints: readonly Endpoint[] = [
    modelList(parts),
    modelById(parts),
    ...fileEndpoints(parts),
    embeddingEndpoint(parts),
    ...completionEndpoints(parts),
    ...contextEndpoints(parts),
    ...conversationEndpoints(parts),
  ];
  mountEndpoints(parts, OPEN.prefixes, endpoints);
  for (const prefix of OPEN.prefixes) mountResponseSocket(parts, `${prefix}/responses`);
}

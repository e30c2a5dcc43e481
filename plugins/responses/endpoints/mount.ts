/** Mounts all endpoints: responses in both dialects, and what clients of today expect beside them under one base URL. */
import { PREFIXES } from "../wire/dialect.ts";
import { completionEndpoints } from "./completions.ts";
import { contextEndpoints } from "./context.ts";
import { conversationEndpoints } from "./conversations.ts";
import { embeddingEndpoint } from "./embeddings.ts";
import { type EndpointParts, mountEndpoints } from "./endpoint.ts";
import { fileEndpoints } from "./files.ts";
import { modelById, modelList } from "./models.ts";
import { responseEndpoints } from "./responses.ts";
import { mountResponseSocket } from "./socket.ts";

export function mountAll(parts: EndpointParts): void {
  mountEndpoints(parts, PREFIXES.strict, responseEndpoints(parts, "strict"));
  mountEndpoints(parts, PREFIXES.open, responseEndpoints(parts, "open"));
  mountEndpoints(parts, PREFIXES.strict, [modelList(parts)]);
  mountEndpoints(parts, PREFIXES.open, [
    modelList(parts),
    modelById(parts),
    ...fileEndpoints(parts),
    embeddingEndpoint(parts),
    ...completionEndpoints(parts),
    ...contextEndpoints(parts),
    ...conversationEndpoints(parts),
  ]);
  for (const prefix of PREFIXES.open) mountResponseSocket(parts, `${prefix}/responses`);
}

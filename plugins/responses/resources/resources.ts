/** The endpoints beside `/responses` that clients of today expect under one base URL. */

import { type Endpoint, type Mounting, mountEndpoints } from "../endpoint.ts";
import { type EmbeddingParts, embeddingEndpoint } from "./embeddings.ts";
import { type FileParts, fileEndpoints } from "./files/endpoints.ts";
import { type ModelParts, modelById, modelList } from "./models.ts";

const PREFIX = "/openai/v1";

export interface ResourceParts extends Mounting, ModelParts, FileParts, EmbeddingParts {}

export function mountResources(parts: ResourceParts): void {
  const endpoints: readonly Endpoint[] = [
    modelList(parts),
    modelById(parts),
    ...fileEndpoints(parts),
    embeddingEndpoint(parts),
  ];
  mountEndpoints(parts, [PREFIX], endpoints);
}

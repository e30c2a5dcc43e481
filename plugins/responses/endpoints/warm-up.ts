/** The answer to `generate: false`: the request was read and is remembered, and nothing was asked of a model. */
import { randomUUIDv7 } from "node:crypto";
import { respond } from "../answer/response.ts";
import type { CreateRequest } from "../parse/request.ts";
import { formatResponseId } from "../wire/id.ts";

export interface WarmUp {
  readonly id: string;
  readonly list: readonly object[];
}

export function warmUp({ model, echo }: CreateRequest): WarmUp {
  // The id of no turn: only the connection knows it.
  const place = { turn: randomUUIDv7(), thread: randomUUIDv7() };
  const createdAt = Math.floor(Date.now() / 1000);
  const at = (status: "in_progress" | "completed") =>
    respond(place, model, echo, true, {
      status,
      createdAt,
      ...(status === "completed" && { completedAt: createdAt }),
    });
  return {
    id: formatResponseId(place),
    list: [
      { type: "response.created", response: at("in_progress"), sequence_number: 0 },
      { type: "response.completed", response: at("completed"), sequence_number: 1 },
    ],
  };
}

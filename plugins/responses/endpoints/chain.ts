/**
 * What a connection remembers of a response that is stored nowhere, so that the next request on it can go on from there by
 * its id: the items that led to it, and its own. Only of the last one; it goes with the connection.
 */
import { bytesOf } from "../../../kernel/kit.ts";

export interface Chain {
  /** The body with what its `previous_response_id` stands for put before its input. */
  expand(body: Body): Body;
  remember(id: string, body: Body, output: readonly unknown[]): void;
  forget(): void;
}

export type Body = Readonly<Record<string, unknown>>;

interface Link {
  readonly id: string;
  readonly items: readonly unknown[];
  /** A stored response that the items go on from. */
  readonly previous: unknown;
}

export function createChain(mostBytes: number): Chain {
  let last: Link | undefined;
  return {
    expand(body) {
      if (last === undefined || body["previous_response_id"] !== last.id) return body;
      const { previous_response_id: _previous, ...rest } = body;
      return {
        ...rest,
        input: [...last.items, ...itemsOf(body["input"])],
        ...(last.previous !== undefined && { previous_response_id: last.previous }),
      };
    },
    remember(id, body, output) {
      const items = [...itemsOf(body["input"]), ...output];
      const isSmall = (bytesOf(items) ?? Number.POSITIVE_INFINITY) <= mostBytes;
      last = isSmall ? { id, items, previous: body["previous_response_id"] ?? undefined } : undefined;
    },
    forget() {
      last = undefined;
    },
  };
}

/** Input of another kind is refused by those who read it. */
function itemsOf(input: unknown): readonly unknown[] {
  if (typeof input === "string") return [{ type: "message", role: "user", content: input }];
  if (Array.isArray(input)) return input;
  return input === undefined || input === null ? [] : [input];
}

/** Requests to a client carry the name of the node that asks: the answer may be posted to any node, and belongs to that one. */
import type { JSONRPCMessage } from "@modelcontextprotocol/server";

const CANCELLED = "notifications/cancelled";

/** What leaves this node. */
export function marked(message: JSONRPCMessage, node: string): JSONRPCMessage {
  if (!("method" in message)) return message;
  if ("id" in message) return { ...message, id: `${node}/${message.id}` };
  // It takes a question back, by the name that the client knows it by.
  const requestId = message.method === CANCELLED ? message.params?.["requestId"] : undefined;
  if (requestId === undefined) return message;
  return { ...message, params: { ...message.params, requestId: `${node}/${String(requestId)}` } };
}

/** What comes to it: its own counter again. */
export function unmarked(message: JSONRPCMessage, node: string): JSONRPCMessage {
  const asking = nodeIn(message);
  if (asking !== node || "method" in message) return message;
  return { ...message, id: Number(String(message.id).slice(node.length + 1)) };
}

/** The node whose question this answers; undefined where it answers none. */
export function nodeIn(message: unknown): string | undefined {
  if (typeof message !== "object" || message === null || "method" in message || !("id" in message))
    return undefined;
  const { id } = message;
  return typeof id === "string" && id.includes("/") ? id.slice(0, id.lastIndexOf("/")) : undefined;
}

/// <reference path="../../wit/guest.d.ts" />
/** Reads and changes the calendars of one person on a CalDAV server, and finds people in the address books. */
import { exchange } from "postern:tool/exchange@0.1.0";
import { setting } from "postern:tool/setting@0.1.0";
import type { Tool } from "postern:tool/tool@0.1.0";
import { perform } from "./calendar.ts";
import { openDav, type Send } from "./dav.ts";
import { type Params, SCHEMA } from "./params.ts";
import { Refusal } from "./refusal.ts";

const send: Send = (method, url, headers, body) => {
  const sent = body === undefined ? undefined : new TextEncoder().encode(body);
  try {
    const answer = exchange(method, url, JSON.stringify(headers), sent, undefined);
    return {
      status: answer.status,
      headers: JSON.parse(answer.headersJson),
      body: new TextDecoder().decode(answer.body),
    };
  } catch (error) {
    throw new Refusal((error as { payload?: string }).payload ?? String(error));
  }
};

export const tool: Tool = {
  execute({ params }) {
    try {
      const dav = openDav(setting("server") ?? "", send);
      const unique = `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}`;
      return { output: JSON.stringify(perform(JSON.parse(params) as Params, dav, new Date(), unique)) };
    } catch (error) {
      if (error instanceof Refusal) return { error: error.message };
      throw error;
    }
  },
  schema: () => JSON.stringify(SCHEMA),
  description: () =>
    "The user's own calendar: lists, reads, adds, moves and cancels events, series among them, and finds people in the address books.",
};

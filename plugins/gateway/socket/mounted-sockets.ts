/** The sockets that plugins take, by path. The limits of a user hold for all paths of a tag together. */

import { LRUCache } from "lru-cache";
import { WebSocketServer } from "ws";
import type { MountedSocket } from "../services.ts";
import type { Authenticator } from "../sign-in/authenticator.ts";
import { createOpenSockets, type OpenSockets } from "./open-sockets.ts";

const MAX_FRAGMENTS = 1000;
/** As much memory as the bodies of requests. Pings and empty frames cost us work too, and no message event reports them. */
const MAX_BYTES = 256 * 1024 * 1024;
const MAX_UNFINISHED_BYTES = 64 * 1024 * 1024;
const MINUTE_MS = 60_000;
const MAX_METERED_USERS = 10_000;

interface TagSockets {
  readonly open: OpenSockets;
  readonly meter: Meter;
}

interface Mounted extends TagSockets {
  readonly description: MountedSocket;
  readonly upgrader: WebSocketServer;
  /** What a user may send within a minute. */
  readonly maxBytes: number;
}

export type MountedSockets = ReturnType<typeof createMountedSockets>;

export function createMountedSockets(authenticator: Pick<Authenticator, "isValid">) {
  const mounted = new Map<string, Mounted>();
  const tags = new Map<string, TagSockets>();
  const ofTag = (tag: string): TagSockets => {
    const known = tags.get(tag);
    if (known !== undefined) return known;
    const made = { open: createOpenSockets(authenticator), meter: createMeter() };
    tags.set(tag, made);
    return made;
  };
  const all = () => [...tags.values()].map(({ open }) => open);
  return {
    mount(description: MountedSocket): () => void {
      const { path, tag, largestMessage, bytesPerMinute } = description;
      const upgrader = new WebSocketServer({
        noServer: true,
        maxPayload: largestMessage,
        maxFragments: MAX_FRAGMENTS,
        perMessageDeflate: false,
        clientTracking: false,
      });
      mounted.set(path, { description, upgrader, maxBytes: bytesPerMinute ?? MAX_BYTES, ...ofTag(tag) });
      return () => void mounted.delete(path);
    },
    at: (path: string) => mounted.get(path),
    frames: () => [...mounted.values()].flatMap(({ description: { frames } }) => frames ?? []),
    usersOf: (tag: string) => tags.get(tag)?.open.countUsers() ?? 0,
    count: () => all().reduce((sum, open) => sum + open.count(), 0),
    recheck: () => Promise.all(all().map((open) => open.recheck())),
    close: () => Promise.all(all().map((open) => open.close())),
  };
}

type Meter = ReturnType<typeof createMeter>;

/** Counts what each user sent within a minute, and how much of it is no whole message yet. */
function createMeter() {
  // As a size: with `max` the arrays of all its places would be made at every start.
  const sent = new LRUCache<string, { bytes: number }>({
    maxSize: MAX_METERED_USERS,
    sizeCalculation: () => 1,
    ttl: MINUTE_MS,
  });
  const held = new Map<string, number>();
  const isFull = (user: string, maxBytes: number) => (sent.get(user)?.bytes ?? 0) > maxBytes;
  const add = (user: string, bytes: number): void => {
    const left = (held.get(user) ?? 0) + bytes;
    if (left > 0) held.set(user, left);
    else held.delete(user);
  };
  return {
    isFull,
    /** Returns false if that is more than the user may send. */
    take(user: string, bytes: number, maxBytes: number): boolean {
      const minute = sent.get(user);
      if (minute === undefined) sent.set(user, { bytes });
      else minute.bytes += bytes;
      add(user, bytes);
      return !isFull(user, maxBytes) && (held.get(user) ?? 0) <= MAX_UNFINISHED_BYTES;
    },
    release: (user: string, bytes: number) => add(user, -bytes),
  };
}

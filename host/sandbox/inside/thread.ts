/** A thread of a tool's process, as its main thread sees it: what it was given, and how far it has come. */
import type { MessagePort } from "node:worker_threads";
import type { Task, ToThread } from "../protocol.ts";
import { Progress } from "./progress.ts";

/** A thread that has not come on for so long is computing something that takes long, or for ever. */
export const SILENT_MILLIS = 250;

export interface Thread {
  readonly id: number;
  readonly calls: Map<number, Placed>;
  readonly progress: Progress;
  /** Piscina takes tasks for it. */
  isReady: boolean;
  port: MessagePort | undefined;
  /** Where it writes what the service is to hear; undefined where it tells the main thread. */
  line: number | undefined;
  /** Calls that it was given so far. */
  posted: number;
  takenBack: number;
  /** Replies that it was given so far. */
  replies: number;
  /** When it was last seen to have come on, and how far. */
  seen: { at: number; steps: number };
}

export interface Placed {
  readonly task: Task;
  /** Counted within its thread. */
  number: number;
  isCancelled: boolean;
  /** Given to another thread, because its own did not come to it. */
  isTakenBack: boolean;
}

const now = () => performance.now();

export function createThread(id: number): Thread {
  return {
    id,
    calls: new Map(),
    progress: new Progress(),
    isReady: false,
    port: undefined,
    line: undefined,
    posted: 0,
    takenBack: 0,
    replies: 0,
    seen: { at: now(), steps: 0 },
  };
}

export function post(thread: Thread, message: ToThread): void {
  thread.port?.postMessage(message);
}

/** Calls that it holds and that do not wait for a reply, also those whose reply it has yet to come to: new ones would hold them up. */
export function computing({ posted, takenBack, replies, progress }: Thread): number {
  return posted - takenBack - progress.left - progress.waiting + replies - progress.heard;
}

/** It was given something to do. */
export function wake(thread: Thread): void {
  if (computing(thread) === 0) thread.seen = { at: now(), steps: thread.progress.steps };
}

export function isSilent(thread: Thread): boolean {
  const { steps } = thread.progress;
  if (steps !== thread.seen.steps) thread.seen = { at: now(), steps };
  return computing(thread) > 0 && now() - thread.seen.at > SILENT_MILLIS;
}

export function hasUnbegun({ posted, progress }: Thread): boolean {
  return progress.begun < posted;
}

export function isBegun({ progress }: Thread, { number }: Placed): boolean {
  return number <= progress.begun;
}

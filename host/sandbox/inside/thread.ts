/** One thread of a tool's process as the process's main thread sees it: what it was given, and how far it has come. */
import type { MessagePort } from "node:worker_threads";
import type { Task, ToThread } from "../protocol.ts";

/** A thread that has not said anything for so long is computing something that takes long, or for ever. */
export const SILENT_MILLIS = 250;

export interface Thread {
  readonly id: number;
  readonly calls: Map<number, Placed>;
  /** The number of the call that it began last. */
  readonly begun: Int32Array<SharedArrayBuffer>;
  port: MessagePort | undefined;
  /** Calls that it was given so far. */
  posted: number;
  /** Calls that it holds and that do not wait for a reply. */
  computing: number;
  /** When it was last known to make progress. */
  heard: number;
}

export interface Placed {
  readonly task: Task;
  /** Counted within its thread. */
  number: number;
  /** Requests without a reply. */
  waitsFor: number;
  isCancelled: boolean;
  /** Given to another thread, because its own did not come to it. */
  isTakenBack: boolean;
}

const now = () => performance.now();

export function createThread(id: number): Thread {
  const begun = new Int32Array(new SharedArrayBuffer(4));
  return { id, calls: new Map(), begun, port: undefined, posted: 0, computing: 0, heard: now() };
}

export function post(thread: Thread, message: ToThread): void {
  thread.port?.postMessage(message);
}

export function wake(thread: Thread): void {
  if (thread.computing++ === 0) thread.heard = now();
}

export function isSilent(thread: Thread): boolean {
  return thread.computing > 0 && now() - thread.heard > SILENT_MILLIS;
}

export function hasUnbegun(thread: Thread): boolean {
  return Atomics.load(thread.begun, 0) < thread.posted;
}

export function isBegun(thread: Thread, { number }: Placed): boolean {
  return number <= Atomics.load(thread.begun, 0);
}

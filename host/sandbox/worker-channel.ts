/**
 * A worker's line to the pool: one port and a few shared numbers for as long as the worker lives, lent to one
 * call at a time. The pool alone decides whose call a line belongs to; nothing a worker says can change that.
 */
import { MessageChannel, type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import { reason } from "../../kernel/fault.ts";
import type { ToolReply, ToolRequest } from "../broker/grant.ts";
import type { Slot } from "./admission.ts";
import {
  type ComponentCode,
  type Downward,
  DROPPED_LOGS,
  type LineEnd,
  type LogEntry,
  MEMORY_KIB,
  REPLIED,
  SHARED_FIELDS,
  type Upward,
  type WorkerOutcome,
} from "./bridge.ts";

/** What the pool does for one call while its worker runs. */
export interface ChannelCall {
  readonly slot: Slot;
  load(): Promise<ComponentCode>;
  http(request: ToolRequest): Promise<ToolReply>;
  log(entry: LogEntry): void;
  resolve(outcome: WorkerOutcome, seen: Seen, secretsAsked: readonly string[]): void;
  /** The component's code cannot be had. */
  reject(error: unknown): void;
}

/** What the shared numbers tell of a call, even of one that was ended from outside. */
export interface Seen {
  readonly droppedLogs: number;
  readonly memoryPeakBytes: number;
}

export class WorkerChannel {
  readonly #shared = new Int32Array(new SharedArrayBuffer(4 * SHARED_FIELDS));
  readonly #port: MessagePort;
  #far: MessagePort | undefined;
  #call: ChannelCall | undefined;
  /** The component that its worker ran last, and so holds a clean instance of. */
  lastComponent: string | undefined;

  constructor() {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    this.#far = port2;
    this.#port.on("message", (message: Upward) => this.#receive(message));
    this.#port.unref();
  }

  /** Binds the line to a call. Answers the worker's end the first time. */
  lend(call: ChannelCall, component: string): LineEnd | undefined {
    this.#drain();
    this.#call = call;
    this.lastComponent = component;
    this.#shared.fill(0);
    const port = this.#far;
    this.#far = undefined;
    return port && { port, shared: this.#shared };
  }

  /** Takes what the worker has sent so far, without waiting for the event loop to bring it. */
  #drain(): void {
    for (;;) {
      const received = receiveMessageOnPort(this.#port) as { readonly message: Upward } | undefined;
      if (received === undefined) return;
      this.#receive(received.message);
    }
  }

  /** The call is over, whatever may still come. */
  takeBack(call: ChannelCall): void {
    this.#drain();
    if (this.#call === call) this.#call = undefined;
  }

  seen(): Seen {
    return {
      droppedLogs: Atomics.load(this.#shared, DROPPED_LOGS),
      memoryPeakBytes: Atomics.load(this.#shared, MEMORY_KIB) * 1024,
    };
  }

  close(): void {
    this.#drain();
    this.#port.close();
  }

  #receive(message: Upward): void {
    const call = this.#call;
    if (call === undefined) return;
    if (message.type === "log") call.log(message.entry);
    else if (message.type === "outcome") call.resolve(message.outcome, this.seen(), message.secretsAsked);
    else {
      call.slot.sleep();
      const reply = message.type === "load" ? this.#load(call) : this.#request(call, message.request);
      reply.then((down) => this.#reply(call, down));
    }
  }

  async #load(call: ChannelCall): Promise<Downward> {
    try {
      return { type: "code", code: await call.load() };
    } catch (error) {
      call.reject(error);
      return { type: "no_code" };
    }
  }

  async #request(call: ChannelCall, request: ToolRequest): Promise<Downward> {
    try {
      return { type: "reply", reply: await call.http(request) };
    } catch (error) {
      return { type: "reply", reply: { ok: false, error: reason(error) } };
    }
  }

  #reply(call: ChannelCall, down: Downward): void {
    // An answer that comes after its call has ended must not reach the next one.
    if (this.#call !== call) return;
    call.slot.wake();
    // Reply before waking: the worker reads the port the moment the flag moves.
    this.#port.postMessage(down);
    Atomics.store(this.#shared, REPLIED, 1);
    Atomics.notify(this.#shared, REPLIED);
  }
}

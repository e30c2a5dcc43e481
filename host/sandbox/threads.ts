/** The worker threads: Piscina keeps them, this file decides which of them takes a call, and lends it the line. */
import { getCompileCacheDir } from "node:module";
import { dirname } from "node:path";
import type { MessagePort } from "node:worker_threads";
import { Piscina } from "piscina";
import { threadFile } from "../../kernel/cli/thread-file.ts";
import type { Task } from "./bridge.ts";
import { type ChannelCall, WorkerChannel } from "./worker-channel.ts";

/** Workers beyond the smallest number go after they had nothing to do for so long. */
const IDLE_MILLIS = 30_000;

/** A call on its way to a worker. Piscina posts `task` and `transferList` as they are once a worker is chosen. */
interface Placement {
  readonly task: Task;
  readonly transferList: MessagePort[];
  readonly call: ChannelCall;
  line: WorkerChannel | undefined;
}

type Balancer = NonNullable<NonNullable<ConstructorParameters<typeof Piscina>[0]>["loadBalancer"]>;

export class Threads {
  readonly #piscina: Piscina;
  readonly #lines = new Map<number, WorkerChannel>();

  constructor(least: number, most: number) {
    this.#piscina = new Piscina({
      filename: threadFile("worker", import.meta.url),
      minThreads: least,
      maxThreads: most,
      idleTimeout: IDLE_MILLIS,
      env: {},
      execArgv: keepCompiled(),
      // The guest's memory is bounded by its module; this bounds what its strings cost outside of it.
      resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 8, stackSizeMb: 4 },
      loadBalancer: (task, workers) => this.#choose(task, workers),
    });
    // A worker that dies between calls is replaced; a call that it was busy with hears of it by its own promise.
    this.#piscina.on("error", () => {});
    this.#piscina.on("workerDestroy", ({ id }: { readonly id: number }) => this.#drop(this.#lines.get(id)));
  }

  /**
   * Runs a task; `call` is served meanwhile. `done` settles when the worker is free for the next one, and
   * rejects where the worker was lost. `line` is the one that was lent, once there is one.
   */
  run(
    task: Task,
    call: ChannelCall,
    signal: AbortSignal,
  ): { readonly done: Promise<void>; line(): WorkerChannel | undefined } {
    const placement: Placement = { task, transferList: [], call, line: undefined };
    // The one thing of a task that Piscina shows to those who choose a worker; symbols are not posted.
    const posted = Object.assign(task, { [Piscina.queueOptionsSymbol]: placement });
    // An array, as Piscina wants it; its type follows an overload of postMessage that newer typings turned into an object.
    const transferList: object = placement.transferList;
    const done = (this.#piscina.run(posted, { transferList, signal }) as Promise<void>).then(
      () => placement.line?.takeBack(call),
      (error: unknown) => {
        placement.line?.takeBack(call);
        this.#drop(placement.line);
        throw error;
      },
    );
    return { done, line: () => placement.line };
  }

  /** True where a worker has just run the component, and so has its code. */
  knows(component: string): boolean {
    return [...this.#lines.values()].some(({ lastComponent }) => lastComponent === component);
  }

  close(): Promise<void> {
    return this.#piscina.destroy();
  }

  /** An idle worker that has just run the same component, or any that is idle. */
  readonly #choose: Balancer = (task, workers) => {
    const placement = (task as unknown as Record<symbol, Placement>)[Piscina.queueOptionsSymbol];
    const idle = workers.filter(({ currentUsage }) => currentUsage === 0);
    const { component } = placement?.task ?? {};
    const chosen = idle.find(({ id }) => this.#lines.get(id)?.lastComponent === component) ?? idle[0];
    if (chosen === undefined || placement === undefined) return null;
    const line = this.#lines.get(chosen.id) ?? new WorkerChannel();
    this.#lines.set(chosen.id, line);
    const end = line.lend(placement.call, placement.task.component);
    placement.line = line;
    if (end !== undefined) {
      Object.assign(placement.task, { line: end });
      placement.transferList.push(end.port);
    }
    return chosen;
  };

  #drop(line: WorkerChannel | undefined): void {
    line?.close();
    for (const [id, kept] of this.#lines) if (kept === line) this.#lines.delete(id);
  }
}

/**
 * Where this process keeps compiled code, its threads do too: most of what a thread of a clone costs is otherwise
 * taking the types off its own files. Said by an argument, since a thread's environment is empty.
 */
function keepCompiled(): string[] {
  const folder = getCompileCacheDir();
  if (folder === undefined) return [];
  const code = `import { enableCompileCache } from "node:module"; enableCompileCache(${JSON.stringify(dirname(folder))});`;
  return ["--import", `data:text/javascript,${encodeURIComponent(code)}`];
}

/** Services of delegation for other plugins. */
import type { Task } from "../../kernel/plugin.ts";

export interface OpenTask {
  readonly user: string;
  readonly thread: string;
  readonly rootThread: string;
}

/** Tasks as commands and the terminal handle them, in this process or in a service elsewhere. */
export interface TaskControl {
  /** The last that were delegated, each after the task that it is a part of. `thread`: of the conversation that delegated them. */
  list(query?: {
    readonly user?: string;
    readonly thread?: string;
    readonly limit?: number;
  }): Promise<readonly Task[]>;
  /** Stops it, and with it those below it. One that has ended is left as it is. */
  cancel(id: string): Promise<Task | undefined>;
}

export interface Tasks extends TaskControl {
  find(id: string): Promise<Task | undefined>;
  /** Where what an open task asks is answered, and the conversation that its tree began in. */
  open(): Promise<readonly OpenTask[]>;
}

declare module "../../kernel/plugin.ts" {
  interface Services {
    tasks: Tasks;
    taskControl: TaskControl;
  }
}

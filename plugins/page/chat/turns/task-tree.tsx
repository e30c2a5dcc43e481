import { useState } from "preact/hooks";
import { visibleLine } from "../../../../kernel/kit/text.ts";
import { request } from "../../state/app.ts";
import { useLive } from "../../state/use-app.ts";
import { ask, type Task } from "../../state/wire.ts";
import { dollars } from "../../text/language.ts";
import { text } from "../../text/text.ts";
import { Button } from "../../widgets/controls.tsx";
import { type Call, Calls } from "./call-card.tsx";

const words = text.chat.tasks;
const LIVE_MS = 1500;
const IDLE_MS = 30_000;

interface TaskTreeProps {
  readonly thread: string;
  /** The calls that delegated. */
  readonly calls: readonly Call[];
}

export const isDelegating = ({ call }: Call): boolean => call.name === "task_delegate";

/** What some calls delegated, each task in place of its call: how far it is, its cost, a way into its thread, and a stop. */
export function TaskTree({ thread, calls }: TaskTreeProps) {
  const path = `/api/tasks?${new URLSearchParams({ thread })}`;
  const [isOpen, setOpen] = useState(true);
  const load = async () => {
    const found = below(thread, calls, (await ask<{ tasks: readonly Task[] }>("GET", path)).tasks);
    setOpen(!calls.every(({ outcome }) => outcome) || found.some(({ completed_at }) => !completed_at));
    return found;
  };
  // A call that was approved, or that ended, has a task by now.
  const state = calls.map(({ outcome, isWaiting }) => `${!outcome} ${isWaiting === true}`).join();
  const [tasks = [], , reload] = useLive(load, isOpen ? LIVE_MS : IDLE_MS, [path, isOpen, state]);
  const known = new Set(tasks.map(({ call_id }) => call_id));
  const others = calls.filter(({ call }) => !known.has(call.id));
  const stop = async (id: string) => {
    await request<Task>("POST", `/api/tasks/${encodeURIComponent(id)}/cancel`);
    await reload();
  };
  return (
    <>
      {/* One that was refused, or whose task is no longer kept. */}
      {others.length > 0 && <Calls of={others} />}
      {tasks.length > 0 && (
        <section class="task-tree" aria-label={words.title}>
          <ul aria-live="polite">
            {tasks.map((task) => (
              <Branch key={task.id} task={task} onStop={() => void stop(task.id)} />
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

/** The tasks of these calls and theirs, in the order of the tree. */
function below(thread: string, calls: readonly Call[], tasks: readonly Task[]): readonly Task[] {
  const delegated = new Set(calls.map(({ call }) => call.id));
  const found = new Set<string>();
  return tasks.filter(({ id, call_id, parent_id, parent_thread_id }) => {
    const isOurs = parent_thread_id === thread && delegated.has(call_id);
    const isBelow = isOurs || (parent_id !== null && found.has(parent_id));
    if (isBelow) found.add(id);
    return isBelow;
  });
}

const LOOKS: Readonly<Record<Task["status"], string>> = {
  queued: "",
  running: "",
  waiting: "waiting",
  completed: "good",
  failed: "failed",
  cancelled: "",
};

function Branch({ task, onStop }: { task: Task; onStop(): void }) {
  const { title, status, depth, calls, cost, error, thread_id, completed_at } = task;
  const last = calls.at(-1);
  return (
    <li style={{ "--depth": depth - 1 }}>
      <span class={`tag ${LOOKS[status]}`}>{words.states[status]}</span>
      {thread_id ? (
        <a href={`#/chat/${thread_id}`} dir="auto">
          {visibleLine(title)}
        </a>
      ) : (
        <span dir="auto">{visibleLine(title)}</span>
      )}
      <span class="soft">
        {[
          task.background && words.background,
          last && words.calls(calls.length, visibleLine(last)),
          cost > 0 && dollars(cost),
          error && visibleLine(error.message),
        ]
          .filter(Boolean)
          .join(" · ")}
      </span>
      {completed_at === undefined && (
        <Button label={words.stop} class="small" aria-label={words.stopTask(title)} onClick={onStop} />
      )}
    </li>
  );
}

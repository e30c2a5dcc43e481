import { useState } from "preact/hooks";
import { visibleLine } from "../../../../kernel/kit/text.ts";
import { request } from "../../state/app.ts";
import { isOver, type TurnView } from "../../state/turn-view.ts";
import { useLive } from "../../state/use-app.ts";
import { ask, type Task } from "../../state/wire.ts";
import { dollars } from "../../text/language.ts";
import { text } from "../../text/text.ts";
import { Button } from "../../widgets/controls.tsx";

const words = text.chat.tasks;
const LIVE_MS = 1500;
const IDLE_MS = 30_000;

/** What an answer delegated: each task with how far it is, its cost, a way into its thread, and a stop. */
export function TaskTree({ turn }: { turn: TurnView }) {
  const hasCalled = turn.pieces.some((piece) => piece.type === "call" && piece.call.name === "task_delegate");
  // An approved call runs in the turn after the one that shows it.
  const goesOn = turn.asked === undefined && turn.outcomes.size > 0;
  return hasCalled || goesOn ? <Tree turn={turn} /> : null;
}

function Tree({ turn }: { turn: TurnView }) {
  const path = `/api/tasks?${new URLSearchParams({ thread: turn.thread })}`;
  const [isOpen, setOpen] = useState(true);
  const load = async () => {
    const all = await ask<{ tasks: readonly Task[] }>("GET", path);
    const found = below(turn.id, all.tasks);
    setOpen(!isOver(turn) || found.some(({ completed_at }) => completed_at === undefined));
    return found;
  };
  const [tasks = [], , reload] = useLive(load, isOpen ? LIVE_MS : IDLE_MS, [turn.id, isOpen, isOver(turn)]);
  if (tasks.length === 0) return null;
  const stop = async (id: string) => {
    await request<Task>("POST", `/api/tasks/${encodeURIComponent(id)}/cancel`);
    await reload();
  };
  return (
    <section class="task-tree" aria-label={words.title}>
      <h3>{words.title}</h3>
      <ul aria-live="polite">
        {tasks.map((task) => (
          <Branch key={task.id} task={task} onStop={() => void stop(task.id)} />
        ))}
      </ul>
    </section>
  );
}

/** The tasks of this turn and theirs, in the order of the tree. */
function below(turn: string, tasks: readonly Task[]): readonly Task[] {
  const found = new Set<string>();
  return tasks.filter(({ id, parent_id, parent_turn_id }) => {
    const isBelow = parent_turn_id === turn || (parent_id !== null && found.has(parent_id));
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

/** The thread on the screen: sends turns, follows their events, keeps what the history pane shows. */
import {
  type Agent,
  type Gate,
  type RunningTurn,
  reason,
  type Threads,
  type Turn,
  type TurnEvent,
  type TurnInput,
  type TurnItem,
  type Usage,
} from "../../kernel/plugin.ts";
import { type Choice, choicesOf, type Entry, type EntryOf, isFoldable } from "./entries.ts";

export interface ConversationParts {
  readonly agent: Agent;
  readonly threads: Threads;
  readonly user: string;
}

/** What is under way, and since when. */
export interface Activity {
  readonly since: number;
  readonly what: string;
}

export interface Conversation {
  readonly entries: readonly Entry[];
  readonly thread: string | undefined;
  readonly activity: Activity | undefined;
  readonly spent: { readonly tokens: number; readonly cost: number };
  send(text: string): void;
  /** False where nothing ran. */
  cancel(): boolean;
  /** Answers the note's name, by which it can be rewritten. */
  note(text: string, tone?: EntryOf<"note">["tone"]): number;
  rewrite(note: number, text: string): void;
  toggle(entry: number): void;
  choose(entry: number, choice: number): void;
  decide(entry: number, choice: Choice): void;
  clear(): void;
  /** Without a thread the next message starts a new one. */
  open(thread: string | undefined): void;
  /** Tells of every change, at most once a frame; answers its own undo. */
  subscribe(listener: () => void): () => void;
  version(): number;
}

// Deltas arrive faster than a screen shows them, and every second frame is left free for the keys.
const FRAME_MILLIS = 33;
const TURNS_SHOWN = 50;

type Draft = Entry extends infer Each ? (Each extends Entry ? Omit<Each, "id"> : never) : never;

export function createConversation({ agent, threads, user }: ConversationParts): Conversation {
  const listeners = new Set<() => void>();
  const running = new Map<RunningTurn, Activity>();
  let entries: Entry[] = [];
  let nextId = 1;
  let version = 0;
  let thread: string | undefined;
  let spent = { tokens: 0, cost: 0 };
  let isDue = false;

  function changed(): void {
    version++;
    if (isDue) return;
    isDue = true;
    setTimeout(() => {
      isDue = false;
      for (const listener of listeners) listener();
    }, FRAME_MILLIS);
  }

  function add(entry: Draft): number {
    const id = nextId++;
    entries.push({ ...entry, id } as Entry);
    changed();
    return id;
  }

  /** The last choice is the one that allows nothing. */
  function ask(gate: Gate): void {
    add({ type: "gate", gate, choice: choicesOf(gate).length - 1 });
  }

  function update<Type extends Entry["type"]>(
    id: number,
    type: Type,
    change: (entry: EntryOf<Type>) => EntryOf<Type>,
  ): void {
    // What changes is nearly always among the last.
    const index = entries.findLastIndex((entry) => entry.id === id);
    const entry = entries[index];
    if (entry?.type !== type) return;
    entries[index] = change(entry as EntryOf<Type>);
    changed();
  }

  function start(input: TurnInput): void {
    const turn: Turn = { user, channel: "tui", input, ...(thread !== undefined && { thread }) };
    try {
      const run = agent.run(turn);
      thread = run.thread;
      running.set(run, { since: Date.now(), what: "thinking" });
      changed();
      void follow(run);
    } catch (error) {
      add({ type: "note", tone: "bad", text: reason(error) });
    }
  }

  async function follow(run: RunningTurn): Promise<void> {
    const seen = new Map<string, number>();
    try {
      for await (const event of run) {
        if (run.thread === thread) show(event, run, seen);
      }
    } catch (error) {
      add({ type: "note", tone: "bad", text: reason(error) });
    } finally {
      running.delete(run);
      changed();
    }
  }

  function show(event: TurnEvent, run: RunningTurn, seen: Map<string, number>): void {
    const doing = (what: string) => running.set(run, { since: running.get(run)?.since ?? Date.now(), what });
    switch (event.type) {
      case "started":
        break;
      case "text": {
        const id = seen.get(event.item);
        if (id === undefined) seen.set(event.item, add({ type: "answer", text: event.delta }));
        else update(id, "answer", (entry) => ({ ...entry, text: entry.text + event.delta }));
        doing("writing");
        break;
      }
      case "tool_started":
        seen.set(event.item, add({ type: "tool", call: event.call, open: false }));
        doing(`running ${event.call.name}`);
        break;
      case "tool_finished": {
        const { call, outcome, millis } = event;
        const id = seen.get(event.item);
        if (id === undefined) add({ type: "tool", call, outcome, millis, open: false });
        else update(id, "tool", (entry) => ({ ...entry, outcome, millis }));
        doing("thinking");
        break;
      }
      case "gate":
        ask(event.gate);
        break;
      case "notice":
        add({ type: "note", tone: "warning", text: event.message });
        break;
      case "usage":
        break;
      case "done":
        count(event.record.usage);
        if (event.status === "cancelled") add({ type: "note", tone: "plain", text: "*Cancelled.*" });
        break;
      case "failed":
        count(event.record.usage);
        add({
          type: "note",
          tone: "bad",
          text: `${event.message}\n\n*Up brings your message back, to change it or to send it again.*`,
        });
        break;
    }
  }

  function count({ inputTokens, outputTokens, totalCost }: Usage): void {
    spent = { tokens: spent.tokens + inputTokens + outputTokens, cost: spent.cost + Number(totalCost) };
    changed();
  }

  function forget(): void {
    entries = [];
    changed();
  }

  /** A stored turn, as it would have looked while it ran. */
  function replay(items: readonly TurnItem[]): void {
    const calls = new Map<string, number>();
    for (const item of items) {
      if (item.type === "message" && item.role === "user")
        add({ type: "person", text: item.text, open: false });
      else if (item.type === "message" && item.text !== "") add({ type: "answer", text: item.text });
      else if (item.type === "tool_call")
        calls.set(item.call.id, add({ type: "tool", call: item.call, open: false }));
      else if (item.type === "tool_result") {
        const { outcome } = item;
        update(calls.get(item.call) ?? 0, "tool", (entry) => ({ ...entry, outcome }));
      }
    }
  }

  return {
    get entries() {
      return entries;
    },
    get thread() {
      return thread;
    },
    get activity() {
      const [first] = [...running].filter(([run]) => run.thread === thread);
      return first?.[1];
    },
    get spent() {
      return spent;
    },
    send(text) {
      add({ type: "person", text, open: false });
      start({ type: "message", text });
    },
    cancel() {
      const mine = [...running.keys()].filter((run) => run.thread === thread);
      for (const run of mine) run.cancel();
      return mine.length > 0;
    },
    note: (text, tone = "plain") => add({ type: "note", tone, text }),
    rewrite: (id, text) => update(id, "note", (entry) => ({ ...entry, text })),
    toggle(id) {
      const entry = entries.find((each) => each.id === id);
      if (entry && isFoldable(entry))
        update(id, entry.type, (known) => ({ ...known, open: !entry.open }) as never);
    },
    choose: (id, choice) => update(id, "gate", (entry) => ({ ...entry, choice })),
    decide(id, { label, decision }) {
      const entry = entries.find((each) => each.id === id);
      if (entry?.type !== "gate" || entry.decided !== undefined) return;
      update(id, "gate", (known) => ({ ...known, decided: label }));
      start(inputOf(entry.gate, decision));
    },
    clear: forget,
    open(next) {
      forget();
      thread = next;
      spent = { tokens: 0, cost: 0 };
      if (next === undefined) return;
      const turns = threads.turns(user, next, { limit: TURNS_SHOWN }).items;
      for (const turn of turns.toSorted((a, b) => a.createdAt.localeCompare(b.createdAt))) {
        replay(turn.items);
        count(turn.usage);
        if (turn.error) add({ type: "note", tone: "bad", text: turn.error.message });
      }
      const gate = threads.find(user, next)?.gate;
      if (gate) ask(gate);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    version: () => version,
  };
}

function inputOf(gate: Gate, decision: string): TurnInput {
  return gate.type === "authentication"
    ? { type: "authentication", gate: gate.id, decision: decision === "done" ? "done" : "deny" }
    : {
        type: "approval",
        gate: gate.id,
        decision: decision === "once" || decision === "always" ? decision : "deny",
      };
}

/** What the client reads of a service's answers, and nothing else: what a newer service sends besides is for newer clients. */
import type { TSchema } from "typebox";
import { Job as AnyJob, Task } from "../../kernel/kit/jobs.ts";
import { User } from "../../kernel/kit/people.ts";
import { named, nullable, Time, Type } from "../../kernel/kit/schema.ts";
import {
  AnsweredQuestions,
  Figures,
  ModelName,
  ThreadSummary,
  TurnRecord,
  UsedStorage,
} from "../../kernel/kit/turns.ts";

export { Upload } from "../../kernel/kit/tools.ts";

const text = Type.String();
const count = Type.Integer();
const maybeText = nullable(text);
const thread = nullable(named("thread_id", text));
const turn = nullable(named("turn_id", text));
const Failure = Type.Object({ code: text, message: text });

const list = <const Name extends string, Item extends TSchema>(name: Name, item: Item) =>
  Type.Object({ items: named(name, Type.Array(item)) });
const page = <const Name extends string, Item extends TSchema>(name: Name, item: Item) =>
  Type.Object({ items: named(name, Type.Array(item)), next: maybeText });

export const Started = Type.Object({ thread: named("thread_id", text), id: named("message_id", text) });
export const Cancelled = Type.Object({ cancelled: Type.Boolean() });
export const Threads = page("threads", ThreadSummary);
export const Thread = Type.Object({ thread: ThreadSummary });
export const BinnedThreads = page(
  "threads",
  Type.Object({ ...ThreadSummary.properties, binnedAt: Time, expiresAt: Time }),
);
export const EmptiedBin = Type.Object({ deleted: count });
export const Turns = page("turns", TurnRecord);
export const ContextUse = Type.Object({ total: count, window: count });
export const Usage = Type.Object({
  turns: Figures,
  calls: Figures,
  storage: UsedStorage,
  answered: Type.Optional(AnsweredQuestions),
});

export const Status = Type.Object({
  version: text,
  channels: Type.Array(Type.Object({ name: text, on: Type.Boolean(), detail: text })),
  model: ModelName,
  jobs: Type.Object({ queued: count, running: count }),
});

export const Models = Type.Object({
  items: named(
    "models",
    Type.Array(
      Type.Object({
        ...ModelName.properties,
        role: Type.Optional(Type.Enum(["configured", "fallback"])),
      }),
    ),
  ),
  unlisted: Type.Array(text),
});

export const Tools = list(
  "tools",
  Type.Object({
    ...{ name: text, version: text, description: text },
    grants: Type.Array(text),
    switchedOff: Type.Optional(Type.Object({ at: Time, why: text })),
    needs: Type.Optional(Type.Object({ names: Type.Array(text), why: text, isOffered: Type.Boolean() })),
  }),
);

export const UploadLimits = Type.Object({ fileBytes: count, files: count });

const { id, user, status, waitingFor, thread: ofJob, conversation } = AnyJob.properties;
const { createdAt, completedAt, response, error } = AnyJob.properties;
export const Job = Type.Object({
  ...{ id, user, status, waitingFor, thread: ofJob, conversation, createdAt, completedAt, response, error },
});
export const Jobs = page("jobs", Job);

export const Tasks = list("tasks", Task);

export const RoutineRun = Type.Object({
  id: text,
  routine: named("routine_id", text),
  dueAt: Time,
  cause: Type.Enum(["schedule", "catch_up", "manual"]),
  missed: count,
  status: Type.Enum(["running", "completed", "failed", "cancelled", "skipped"]),
  error: nullable(Failure),
  refused: Type.Array(
    Type.Object({
      tool: text,
      needs: Type.Enum(["approval", "credential", "answer"]),
      message: text,
    }),
  ),
  undelivered: maybeText,
  ...{ thread, turn, job: nullable(named("job_id", text)) },
  costUsd: Type.Number(),
  startedAt: Time,
  completedAt: nullable(Time),
});
export const RoutineRuns = page("runs", RoutineRun);

export const Routine = Type.Object({
  ...{ id: text, user: text, text, schedule: text, words: text, tz: text },
  status: Type.Enum(["active", "paused", "done"]),
  pausedWhy: maybeText,
  nextAt: nullable(Time),
  budget: nullable(Type.Object({ usd: Type.Number(), per: Type.Enum(["run", "day"]) })),
  timeoutSecs: count,
  deliver: maybeText,
  createdAt: Time,
  lastRun: nullable(RoutineRun),
});
export const Routines = list("routines", Routine);
export const RoutinePreview = Type.Object({ words: text, tz: text, firings: Type.Array(Time) });

export const MemoryHits = list("results", Type.Object({ path: text, snippet: text }));
export const MemoryFiles = list("results", Type.Object({ path: text, bytes: count, updatedAt: Time }));

export const File = Type.Object({
  path: text,
  kind: Type.Enum(["file", "folder"]),
  bytes: count,
  mime: text,
  version: count,
  updatedAt: Time,
});
export const Files = page("entries", File);
export const FilesUsage = Type.Object({ bytes: count, maxBytes: count });

const writer = Type.Object({
  kind: Type.Enum(["page", "api", "cli", "model", "tool", "outside"]),
  thread: Type.Optional(named("thread_id", text)),
  turn: Type.Optional(named("turn_id", text)),
  tool: Type.Optional(text),
});
const FileChanges = Type.Object({
  id: text,
  writer,
  undoes: Type.Optional(text),
  undoneBy: Type.Optional(text),
  changes: Type.Array(
    Type.Object({
      path: text,
      change: Type.Enum(["created", "written", "removed", "moved"]),
      to: Type.Optional(text),
    }),
  ),
  isCut: Type.Optional(Type.Boolean()),
});
export const FileLog = list("sets", FileChanges);
export const Undone = Type.Object({
  set: Type.Optional(Type.Object({ id: text })),
  conflicts: Type.Array(Type.Object({ path: text, by: writer, at: Time })),
});

/** What is around the event of a frame on the socket. A frame's `id` is one more than that of the frame before it. */
export const Frame = Type.Object({
  type: text,
  id: count,
  stream: Type.Optional(text),
  user: Type.Optional(User),
  turn: Type.Optional(named("turn_id", text)),
  thread: Type.Optional(named("thread_id", text)),
});

/**
 * A channel for a chat service that is asked for new messages (`GET <url>/updates?after=<id>`) and told the answers
 * (`POST <url>/messages`). Replace `poll` and `send` with the calls of your service.
 */
import { setTimeout } from "node:timers/promises";
import { identityOf } from "postern/kit/people";
import {
  definePlugin,
  Fault,
  type Gate,
  type Job,
  type Log,
  Off,
  type Services,
  type Sql,
  type TurnInput,
} from "postern/plugin";

const NAME = "{{name}}";
const MIGRATIONS = [
  `CREATE TABLE {{table}}_chats (chat TEXT PRIMARY KEY, "user" TEXT NOT NULL, thread TEXT NOT NULL);
   CREATE TABLE {{table}}_owed (job TEXT PRIMARY KEY, "user" TEXT NOT NULL)`,
];
const RETRY_MS = 5000;

/** A message as the service hands it out. */
interface Update {
  readonly id: number;
  readonly chat: string;
  readonly from: string | number;
  readonly text: string;
}

type Send = (chat: string, text: string) => Promise<void>;

export default definePlugin({
  name: NAME,
  kind: "channel",
  needs: ["agent", "threads", "identities", "store"],
  wants: ["jobs", "routines"],
  configure(env) {
    const url = env.url("{{SETTING}}_URL", undefined, "The address of the chat service");
    return url === undefined ? new Off("{{SETTING}}_URL is not set") : { url };
  },

  async start({ config: { url }, use, log, onStop, announce }) {
    const sql = await use.store.tables(NAME, MIGRATIONS);
    const stopping = new AbortController();
    /** The chats that wait for an answer: each is told when the service stops. */
    const waiting = new Set<string>();

    const send: Send = async (chat, text) => {
      const body = JSON.stringify({ chat, text });
      await fetch(`${url}/messages`, {
        method: "POST",
        body,
        headers: { "content-type": "application/json" },
      });
    };

    const handle = async ({ chat, from, text }: Update) => {
      waiting.add(chat);
      try {
        const said = await answer(use, sql, { chat, from, text });
        if (waiting.has(chat)) await send(chat, said);
      } catch (error) {
        // A fault's message is for the person; anything else is a bug and goes to the log.
        if (!(error instanceof Fault)) log.error({ error }, "a message was not answered");
        if (waiting.has(chat))
          await send(chat, error instanceof Fault ? error.message : "Something went wrong.");
      } finally {
        waiting.delete(chat);
      }
    };

    const polling = poll(url, stopping.signal, log, (update) => {
      handle(update).catch((error) => log.warn({ error }, "an answer could not be sent"));
    });
    onStop(async () => {
      stopping.abort();
      await polling;
      const left = [...waiting];
      waiting.clear();
      await Promise.allSettled(
        left.map((chat) => send(chat, "Postern was stopped before it could answer. Ask again later.")),
      );
    });
    onStop(deliverRoutines(use, sql, send, log));
    announce(url);
  },

  // So that `postern store copy` takes its rows along, and they go when their user does.
  operations: {
    tables: async () => [
      { owner: NAME, migrations: MIGRATIONS, personal: ["{{table}}_chats", "{{table}}_owed"] },
    ],
  },
});

/** Asks for new messages until the channel stops. A service that is away is asked again. */
async function poll(url: string, signal: AbortSignal, log: Log, onUpdate: (update: Update) => void) {
  let after = 0;
  while (!signal.aborted) {
    try {
      const answer = await fetch(`${url}/updates?after=${after}`, { signal });
      for (const update of (await answer.json()) as Update[]) {
        after = update.id;
        onUpdate(update);
      }
    } catch (error) {
      if (signal.aborted) return;
      log.warn({ error }, "the chat service does not answer");
      await setTimeout(RETRY_MS, undefined, { signal }).catch(() => {});
    }
  }
}

/** Runs one message as a turn and returns what the person is shown. */
async function answer(
  { agent, threads, identities }: Pick<Services, "agent" | "threads" | "identities">,
  sql: Sql,
  { chat, from, text }: Omit<Update, "id">,
): Promise<string> {
  // Whoever the service names is an identity of this channel, or the account that an operator has paired it with.
  const identity = identityOf(NAME, String(from));
  const user = (await identities.account(identity)) ?? identity;
  const kept = await sql.get<{ thread: string }>(
    `SELECT thread FROM {{table}}_chats WHERE chat = ? AND "user" = ?`,
    chat,
    user,
  );
  // Somebody may have deleted the thread on the page: then the chat begins a new one.
  const thread = kept && (await threads.find(user, kept.thread));
  const turn = await agent.run({
    user,
    channel: NAME,
    thread: thread?.id,
    input: inputOf(text, thread?.gate),
  });
  if (turn.thread !== thread?.id)
    await sql.run(
      `INSERT INTO {{table}}_chats VALUES (?, ?, ?) ON CONFLICT (chat) DO UPDATE SET "user" = excluded."user", thread = excluded.thread`,
      ...[chat, user, turn.thread],
    );
  let said = "";
  for await (const event of turn) {
    if (event.type === "text") said += event.delta;
    if (event.type === "gate") said += questionOf(event.gate);
    if (event.type === "failed") said += event.message;
  }
  return said;
}

/** A thread that waits for a yes or no takes this message as the answer. */
function inputOf(text: string, gate: Gate | undefined): TurnInput {
  const [word] = /^(yes|no)$/i.exec(text.trim()) ?? [];
  if (gate?.type !== "approval" || word === undefined) return { type: "message", text };
  return { type: "approval", gate: gate.id, decision: word.toLowerCase() === "yes" ? "once" : "deny" };
}

function questionOf(gate: Gate): string {
  if (gate.type !== "approval") return `\n${gate.call.name} waits for you: answer it on Postern's page.`;
  const why = [...(gate.doubts ?? []).map(({ sentence }) => sentence), ...gate.grants];
  return `\nMay ${gate.call.name} run?\n${why.map((line) => `- ${line}`).join("\n")}\nAnswer yes or no.`;
}

/** Sends the answers of routines that were made with `--deliver {{name}}` to the person's newest chat. Returns the undo. */
function deliverRoutines(
  { jobs, routines }: Partial<Pick<Services, "jobs" | "routines">>,
  sql: Sql,
  send: Send,
  log: Log,
): () => void {
  if (jobs === undefined || routines === undefined) return () => {};
  const deliver = async ({ id, user, response = "" }: Job) => {
    const owed = await sql.get<{ job: string }>("SELECT job FROM {{table}}_owed WHERE job = ?", id);
    const found =
      owed && (await sql.get<{ chat: string }>(`SELECT chat FROM {{table}}_chats WHERE "user" = ?`, user));
    if (found === undefined) return;
    await send(found.chat, response);
    await sql.run("DELETE FROM {{table}}_owed WHERE job = ?", id);
  };
  const tryDelivery = (job: Job) =>
    deliver(job).catch((error) =>
      log.warn({ error }, "a routine's answer could not be sent; it is tried again at the next start"),
    );
  const undo = [
    // In the transaction that submits the routine's job: the answer is owed from then on, whatever happens.
    routines.deliverBy(NAME, async (tx, { job, user }) => {
      await tx.run("INSERT INTO {{table}}_owed VALUES (?, ?)", job, user);
    }),
    jobs.onCompleted(tryDelivery),
  ];
  const sendOwed = async () => {
    for (const { job } of await sql.all<{ job: string }>("SELECT job FROM {{table}}_owed")) {
      const found = await jobs.find(job);
      if (found?.status === "completed") await tryDelivery(found);
    }
  };
  sendOwed().catch((error) => log.warn({ error }, "owed answers could not be read"));
  return () => {
    for (const one of undo) one();
  };
}

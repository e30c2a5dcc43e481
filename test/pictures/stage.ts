/** A service with a few weeks behind it: people, jobs, routines, memory and usage that a picture can show. */
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import type { ChatRequest, ModelReply } from "../support/servers/model-server.ts";

export const WEBHOOK = { port: "3212", secret: "a-secret-for-pictures" };

const PLAN = `Two days are enough for the old town and one long walk.

| day | morning | afternoon |
|---|---|---|
| Saturday | market hall | castle and gardens |
| Sunday | river walk, 9 km | train at 16:40 |

\`\`\`ts
const pace = 9 / 2.25; // 4 km an hour, with a stop for coffee
\`\`\`

Bring a light coat: Sunday starts cool.`;

const ANSWERS: readonly (readonly [word: string, answer: ModelReply])[] = [
  ["miles", { calls: [{ name: "convert", arguments: { value: 26.2, from: "mi", to: "km" } }] }],
  ["three days", { text: "Then add Monday: the museum in the morning, and a swim in the lake." }],
  ["weekend", { reasoning: "Two days, by train, not too much walking.", text: PLAN }],
  [
    "note",
    {
      calls: [
        {
          id: "i",
          name: "github-issues",
          arguments: {
            action: "create",
            repository: "acme-labs/ledger",
            title: "Invoice 2043 is overdue",
            body: "Please pay 480 EUR before Friday.",
          },
        },
      ],
    },
  ],
  ["backup", { status: 400, error: { message: "the request was refused" } }],
  ["signup", { text: "Welcome mail drafted for 3 new signups. Two of them asked about prices." }],
  ["deploy", { text: "The deploy of 14:02 is healthy: error rate 0.1 %, latency unchanged." }],
];

/** What the model says to the last message of a person. */
export function answerTo({ messages }: ChatRequest): ModelReply {
  const usage = { input: 1840, output: 260 };
  const last = messages.at(-1);
  if (last?.role === "tool") return { text: "26.2 miles are **42.16 km**, a marathon.", usage };
  const said = JSON.stringify(messages.findLast(({ role }) => role === "user")?.content);
  const found = ANSWERS.find(([word]) => said.includes(word));
  return { text: "Done.", ...found?.[1], usage };
}

type Ask = (method: string, path: string, body?: object) => Promise<unknown>;

/** Everything but the threads, which a person types. */
export async function furnish(ask: Ask, store: string): Promise<void> {
  for (const id of ["ann", "ben"]) {
    await ask("POST", "/api/users", { id });
    await ask("POST", "/api/tokens", { user: id, name: "laptop", expires_in_days: 90 });
  }
  const path = (name: string) => `/api/memory/file?${new URLSearchParams({ path: name })}`;
  const write = (name: string, ...texts: readonly string[]) =>
    texts.reduce(
      (before, text) => before.then(() => ask("PUT", path(name), { text })),
      Promise.resolve() as Promise<unknown>,
    );
  const list = "# Garden\n\n- water the tomatoes\n- order seeds";
  await write(
    "notes/garden.md",
    list,
    `${list}\n- cut the roses`,
    "# Garden\n\n- water the tomatoes daily\n- cut the roses",
  );
  await write("facts/bike.md", "My bike is red. Its frame number is on the invoice.");
  await write("people/ann.md", "Ann likes trains and quiet places. Birthday in May.");
  for (const [schedule, text] of [
    ["weekdays at 8:00", "Summarise what is new in the tracker"],
    ["every Monday at 9:00", "Draft the weekly report"],
  ])
    await ask("POST", "/api/routines", { schedule, text, tz: "Europe/Berlin" });
  for (const message of [
    "Welcome the new signups",
    "Check the deploy of 14:02",
    "Verify last night's backup",
  ])
    await fetch(`http://127.0.0.1:${WEBHOOK.port}/webhook`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-webhook-secret": WEBHOOK.secret },
      body: JSON.stringify({ user_id: "ops", message }),
    });
  addUsage(store);
  await sleep(3000);
}

/** Two weeks of turns, as rows: nobody waits two weeks for a picture. */
function addUsage(store: string): void {
  const sql = new DatabaseSync(store);
  sql.exec("PRAGMA busy_timeout = 5000");
  const turn = sql.prepare(
    `INSERT INTO turn_figures (created_at, turn, seq, "user", channel, status, provider, model,
       input_tokens, output_tokens, usd, millis) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  sql.exec("BEGIN");
  for (let at = 0; at < 180; at++) {
    const when = new Date(Date.now() - ((at * 7919) % 1330) * 900_000).toISOString();
    const isLarge = at % 3 === 0;
    turn.run(
      when,
      `past-${at}`,
      at,
      ["operator", "ann", "ben"][at % 3] as string,
      ["gateway", "webhook", "responses"][at % 4 === 3 ? 1 : 0] as string,
      at % 17 === 0 ? "failed" : "completed",
      isLarge ? "anthropic" : "openai",
      isLarge ? "large" : "small",
      900 + ((at * 331) % 4000),
      120 + ((at * 97) % 700),
      isLarge ? 0.02 + (at % 7) / 200 : 0.002,
      700 + ((at * 613) % 5200),
    );
  }
  sql.exec("COMMIT");
  sql.close();
}

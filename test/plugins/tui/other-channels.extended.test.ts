import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openTerminalWithModel } from "../../support/processes/tui-terminal.ts";

const WORDS = Array.from({ length: 60 }, (_, index) => `word${index} `);

/** Streams some of the words at once, and the rest when the test calls `goOn`. */
function said(some: number): { readonly text: readonly (string | Promise<string>)[]; goOn(): void } {
  const { promise, resolve } = Promise.withResolvers<string>();
  return { text: [...WORDS.slice(0, some), promise], goOn: () => resolve(WORDS.slice(some).join("")) };
}

/** A terminal with a one-turn thread open, and the gateway of the same process. */
async function openThread() {
  const { model, terminal } = await openTerminalWithModel({
    columns: 120,
    rows: 40,
    firstSight: "?token=",
    env: { GATEWAY_ENABLED: "true" },
  });
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(terminal.text())?.[0] ?? "";
  const token = readFileSync(join(terminal.home, "webui-token"), "utf8").trim();
  const ask = async <Answer>(method: string, path: string, body?: unknown): Promise<Answer> => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const answer = await fetch(url + path, { method, headers, body: JSON.stringify(body) ?? null });
    expect(answer.status).toBeLessThan(300);
    return (await answer.json()) as Answer;
  };
  model.script({ text: "First answer." });
  terminal.type("From the terminal\r");
  await terminal.until("First answer.");
  await terminal.until("Enter to send");
  const { threads } = await ask<{ threads: { id: string }[] }>("GET", "/api/threads");
  const say = (message: string) =>
    ask<{ message_id: string }>("POST", "/api/chat/send", { message, thread_id: threads[0]?.id });
  const shown = () => terminal.text().match(/word\d+/g) ?? [];
  return { model, terminal, ask, say, shown };
}

const whole = WORDS.map((word) => word.trim());

test("another channel's turn in the open thread streams in, and Escape cancels it", async () => {
  const { model, terminal, say, shown } = await openThread();
  const { text, goOn } = said(6);
  model.script({ text }, { text: "And on it goes." }, { text: WORDS, end: "stall" });
  await say("From the browser");
  await terminal.until("› From the browser");
  await terminal.until("word5");
  await terminal.until((seen) => /writing \d/.test(seen.text()));
  goOn();
  await terminal.until("word59");
  await terminal.until("Enter to send");
  expect(shown()).toEqual(whole);

  terminal.type("Go on\r");
  await terminal.until("And on it goes.");
  await say("Talk for long");
  await terminal.until("› Talk for long");
  await terminal.until("Esc to cancel");
  terminal.press("escape");
  await terminal.until("Cancelled.");
  expect(terminal.text().match(/› /g)).toHaveLength(5);
});

test("a gate raised in another channel is shown here, and closed when it is answered there", async () => {
  const { model, terminal, ask, say } = await openThread();
  model.script({ calls: [{ name: "post", arguments: { text: "hi" } }] }, { text: "Posted it." });
  await say("Post hi");
  await terminal.until("Once (y)");
  const { pending } = await ask<{ pending: { id: string }[] }>("GET", "/api/approvals");
  await ask("POST", `/api/approvals/${pending[0]?.id}`, { decision: "once" });
  await terminal.until("Posted it.");
  expect(terminal.text()).not.toContain("Once (y)");
  expect(terminal.text()).toMatch(/^ +▸ Answered: Once$/m);
});

test("returning to a thread shows the whole running turn, and it keeps streaming", async () => {
  const { model, terminal, shown } = await openThread();
  const { text, goOn } = said(4);
  model.script({ text });
  terminal.type("Count\r");
  await terminal.until("word3");
  terminal.type("/new\r");
  await terminal.until("New thread.");
  expect(shown()).toEqual([]);
  terminal.type("/threads 1\r");
  await terminal.until("› Count");
  await terminal.until("word3");
  goOn();
  await terminal.until("word59");
  await terminal.until("Enter to send");
  expect(shown()).toEqual(whole);
});

/**
 * People write in a chat while the service behind it is killed with `kill -9`, over and over: what was said and never answered, what was
 * answered more than once, and what came in another order. Each chat service tells how people write there and what they were shown.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { BIN } from "../clone.ts";
import { startModelServer } from "../servers/model-server.ts";
import { pairSenders } from "../services/pairing.ts";

/** A chat service of the test's own, with people in it. */
export interface ChatUnderKills {
  readonly name: string;
  /** With these the service reaches it. */
  readonly settings: Readonly<Record<string, string>>;
  /** The second half of the identity of each person. */
  readonly people: readonly string[];
  say(person: string, text: string): void | Promise<void>;
  /** Every text that a person was shown so far, oldest first. */
  shown(person: string): readonly string[];
  close(): Promise<void>;
}

export interface KillCount {
  readonly said: number;
  readonly kills: number;
  /** Said and never answered. */
  readonly lost: readonly string[];
  /** Answers that came more than once. */
  readonly repeated: number;
  /** Answers that were begun, left as they were by a kill, and came whole in a message of their own. */
  readonly begun: number;
  /** Answers that came before that of an earlier message of the same person. */
  readonly disordered: number;
  /** Whatever else people were shown. */
  readonly strange: readonly string[];
}

/** The longest without the answers that are waited for. It only matters where one is lost. */
const PATIENCE_MS = 300_000;
/** So many answers a service lives to give, at most, and so much longer. */
const MAX_ANSWERS = 4;
const MAX_LONGER_MS = 300;
/** People wait for answers before they say more: those of whom a hundred messages wait are told so, and get no answer. */
const MAX_OPEN = 20;

export async function killRounds(
  chat: ChatUnderKills,
  rounds: number,
  progress: (text: string) => void = () => {},
): Promise<KillCount> {
  const model = await startModelServer();
  const home = await mkdtemp(join(tmpdir(), "postern-kills-"));
  const env = {
    PATH: process.env["PATH"],
    NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
    POSTERN_HOME: home,
    GATEWAY_ENABLED: "false",
    TOOLS_SHIPPED: "false",
    LOG_LEVEL: "error",
    CHAT_RATE_LIMIT: "1000000",
    MODEL_PROVIDER: "openai-compatible",
    MODEL_BASE_URL: model.url,
    MODEL_NAME: "scripted",
    ...chat.settings,
  } as NodeJS.ProcessEnv;
  // Some are killed while the model speaks, others between its requests: what was said meanwhile is in the second.
  model.otherwise(({ messages }) => {
    const delay = Math.trunc(Math.random() * 40);
    if (messages.at(-1)?.role === "user" && Math.random() < 0.5)
      return { calls: [{ name: "memory_tree", arguments: {} }], delay };
    const answered = messages.findLastIndex((one) => one.role === "assistant" && !one.tool_calls?.length);
    const unanswered = messages.slice(answered + 1).filter(({ role }) => role === "user");
    const texts = unanswered.map(({ content }) =>
      typeof content === "string" ? content : (content?.map((part) => part.text).join("") ?? ""),
    );
    const said = new Set(texts.flatMap((text) => text.match(/message \d+ of \S+/g) ?? ["nothing"]));
    return { text: [...said].flatMap((one) => ["You said: ", one, ". "]), delay };
  });
  const said = new Map<string, string[]>(chat.people.map((person) => [person, []]));
  let service: ChildProcess | undefined;
  const kill = async () => {
    if (service === undefined || service.exitCode !== null || service.signalCode !== null) return;
    service.kill("SIGKILL");
    await once(service, "exit");
  };
  // Should the tests themselves be stopped, nothing may be left behind.
  const end = () => void service?.kill("SIGKILL");
  process.once("exit", end);
  const openOf = (person: string) => {
    const shown = chat.shown(person);
    return (said.get(person) ?? []).filter(
      (text) => !shown.some((one) => one.includes(`You said: ${text}.`)),
    );
  };
  const speak = async () => {
    const person = chat.people[Math.trunc(Math.random() * chat.people.length)] as string;
    if (openOf(person).length >= MAX_OPEN) return;
    const words = said.get(person) as string[];
    const text = `message ${words.length + 1} of ${person}`;
    words.push(text);
    await chat.say(person, text);
  };
  const countShown = () => chat.people.flatMap((person) => chat.shown(person)).length;
  const isAnswered = () => chat.people.every((person) => openOf(person).length === 0);
  try {
    await pairSenders(
      home,
      chat.people.map((person) => `${chat.name}/${person}`),
    );
    let kills = 0;
    // A service that answers nobody any more is not waited for in every round: what it lost is counted.
    for (let isSilent = false; kills < rounds && !isSilent; ) {
      service = await serve(env);
      const enough = countShown() + Math.trunc(Math.random() * (MAX_ANSWERS + 1));
      const over = Date.now() + PATIENCE_MS;
      do {
        await speak();
        await sleep(Math.random() * MAX_LONGER_MS);
      } while (countShown() < enough && Date.now() < over);
      isSilent = countShown() < enough && Date.now() >= over;
      await kill();
      kills++;
      progress(`${kills} of ${rounds} kills, ${[...said.values()].flat().length} messages`);
    }
    service = await serve(env);
    let [over, seen] = [Date.now() + PATIENCE_MS, -1];
    while (!isAnswered() && Date.now() < over) {
      const shown = countShown();
      if (shown > seen) over = Date.now() + PATIENCE_MS;
      seen = shown;
      await sleep(50);
    }
    return { kills, ...count(chat, said) };
  } finally {
    await kill();
    process.off("exit", end);
    await Promise.all([model.close(), chat.close()]);
    await rm(home, { recursive: true, force: true });
  }
}

function count(chat: ChatUnderKills, said: ReadonlyMap<string, readonly string[]>): Omit<KillCount, "kills"> {
  const lost: string[] = [];
  const strange: string[] = [];
  let [repeated, begun, disordered] = [0, 0, 0];
  for (const [person, words] of said) {
    let newest = -1;
    const seen = new Set<string>();
    for (const shown of chat.shown(person)) {
      const answered = [...shown.matchAll(/You said: (message \d+ of \S+)\./g)].map(([, text = ""]) => text);
      const isBegun = words.some((one) => `You said: ${one}`.startsWith(shown));
      if (isBegun) begun += 1;
      else if (answered.length === 0) strange.push(shown);
      for (const text of isBegun ? [] : answered) {
        const at = words.indexOf(text);
        if (at === -1) strange.push(shown);
        else if (seen.has(text)) repeated += 1;
        else {
          if (at < newest) disordered += 1;
          newest = Math.max(newest, at);
          seen.add(text);
        }
      }
    }
    lost.push(...words.filter((text) => !seen.has(text)));
  }
  return { said: [...said.values()].flat().length, lost, repeated, begun, disordered, strange };
}

async function serve(env: NodeJS.ProcessEnv): Promise<ChildProcess> {
  const child = spawn(process.execPath, [BIN, "serve"], { env, stdio: ["ignore", "pipe", "pipe"] });
  let printed = "";
  const ready = Promise.withResolvers<void>();
  const listen = (chunk: Buffer) => {
    printed = `${printed}${chunk}`.slice(-20_000);
    if (printed.includes("ready in")) ready.resolve();
  };
  child.stdout.on("data", listen);
  child.stderr.on("data", listen);
  child.once("exit", () => ready.reject(new Error(`it ended before it was ready:\n${printed}`)));
  await ready.promise;
  return child;
}

/** For the terminal, and for a test's message. */
export function describeKills({
  said,
  kills,
  lost,
  repeated,
  begun,
  disordered,
  strange,
}: KillCount): string {
  const also = strange.length > 0 ? `; people were also shown ${JSON.stringify(strange.slice(0, 5))}` : "";
  const which = lost.length > 0 ? ` (${lost.slice(0, 10).join(", ")})` : "";
  return `${said} messages over ${kills} kills: ${lost.length} lost${which}, ${repeated} answers repeated, ${begun} begun and left, ${disordered} out of order${also}`;
}

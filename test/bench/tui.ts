/** How soon `postern` shows its first frame, and how soon a key shows while an answer streams in. */
import { spawn as spawnChild } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { type IPty, spawn } from "@lydell/node-pty";
import { startModelServer } from "../support/servers/model-server.ts";
import { type Bench, compare, interleave, within } from "./support/bench.ts";
import { BIN, inFolder } from "./support/programs.ts";

const ROUNDS = 5;
// Neither in a streamed word nor in what moves the cursor.
const LETTERS = "БГДЖИЛПЦЧШЩЫЭЮЯ";
const KEYS = 60;
/** The last that a start draws; the first frame has a prompt and nothing else. */
const GREETING = "Type a message";
const FIRST_FRAME_MS = 450;
// One frame of a screen with sixty a second, and the time in which it is made.
const ONE_FRAME_MS = 20;

interface Session {
  readonly pty: IPty;
  /** Milliseconds from now until the output holds the text. */
  until(text: string): Promise<number>;
  end(): Promise<void>;
}

function openPostern(home: string, env: Readonly<Record<string, string>> = {}): Session {
  const pty = spawn(process.execPath, [BIN], {
    cols: 100,
    rows: 30,
    env: {
      PATH: process.env["PATH"] ?? "",
      TERM: "xterm-256color",
      POSTERN_HOME: home,
      GATEWAY_PORT: "0",
      MODEL_PROVIDER: "builtin",
      ...env,
    },
  });
  let unread = "";
  let look = () => {};
  pty.onData((data) => {
    unread += data;
    look();
  });
  const exited = new Promise<void>((resolve) => pty.onExit(() => resolve()));
  return {
    pty,
    until(text) {
      const began = performance.now();
      return new Promise((resolve) => {
        look = () => {
          const at = unread.indexOf(text);
          if (at === -1) return;
          unread = unread.slice(at + text.length);
          look = () => {};
          resolve(performance.now() - began);
        };
        look();
      });
    },
    async end() {
      // The first may only stop the turn, and the second clear the draft.
      const pressing = setInterval(() => pty.write("\u0003"), 300);
      await exited;
      clearInterval(pressing);
    },
  };
}

async function nothing(): Promise<number> {
  const began = performance.now();
  await once(spawnChild(process.execPath, ["-e", "0"], { stdio: "ignore" }), "exit");
  return performance.now() - began;
}

async function untilSeen(home: string, sight: string): Promise<number> {
  const session = openPostern(home);
  const took = await session.until(sight);
  await session.end();
  return took;
}

async function keysWhileStreaming(home: string): Promise<readonly number[]> {
  const model = await startModelServer();
  const words = Array.from({ length: 3000 }, (_, index) => `word${index}${index % 40 === 39 ? "\n\n" : " "}`);
  model.otherwise({ text: words, delay: 5 });
  const session = openPostern(home, {
    MODEL_PROVIDER: "openai-compatible",
    MODEL_BASE_URL: model.url,
    MODEL_NAME: "scripted",
  });
  try {
    await session.until(GREETING);
    // What a start does in the background, such as compiling a tool that was just installed, is over by then.
    await sleep(5000);
    session.pty.write("Go\r");
    await session.until("word10 ");
    const samples: number[] = [];
    for (let count = 0; count < KEYS; count++) {
      const key = LETTERS[count % LETTERS.length] ?? "";
      const shown = session.until(key);
      session.pty.write(key);
      samples.push(await shown);
      await sleep(Math.random() * 30);
    }
    return samples;
  } finally {
    await session.end();
    await model.close();
  }
}

export const bench: Bench = {
  name: "tui",
  about: "the first frame after typing postern, and a key on screen while text streams",
  run: (progress) =>
    inFolder(async (home) => {
      await untilSeen(home, GREETING);
      const samples = await interleave(
        {
          "node -e 0": nothing,
          "postern, first frame": () => untilSeen(home, "›"),
          "postern, until it can answer": () => untilSeen(home, GREETING),
        },
        ROUNDS,
        progress,
      );
      progress("keys while an answer streams");
      const keys = { "a key, while text streams": await keysWhileStreaming(home) };
      const goals = {
        "postern, first frame": within(FIRST_FRAME_MS, "ms"),
        "a key, while text streams": within(ONE_FRAME_MS, "ms"),
      };
      return compare({ ...samples, ...keys }, { unit: "ms", goals });
    }),
};

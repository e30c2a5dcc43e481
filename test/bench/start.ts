/** From typing to the answer, as published: commands, `postern serve`, the first token and the first tool call, cold and warm. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { startModelServer } from "../support/servers/model-server.ts";
import { type Bench, compare, interleave, within } from "./support/bench.ts";
import { BIN, inFolder, publish, serve, stopServing } from "./support/programs.ts";

const ROUNDS = 7;
const COLD_ROUNDS = 3;
const TOKEN = "the-operator-of-the-bench";
const CONVERT = { value: 26.2, from: "miles", to: "km" };

async function toTheEnd(home: string, ...args: readonly string[]): Promise<number> {
  const began = performance.now();
  const env = { PATH: process.env["PATH"] ?? "", POSTERN_HOME: home };
  const [code] = await once(spawn(process.execPath, args, { stdio: "ignore", env }), "exit");
  if (code !== 0) throw new Error(`${args.join(" ")} ended with ${code}`);
  return performance.now() - began;
}

/** Milliseconds from the request until the text has come. */
async function untilText(url: string, input: string, text: string): Promise<number> {
  const began = performance.now();
  const answer = await fetch(`${url}/v1/responses`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "any", input, stream: true }),
  });
  let read = "";
  for await (const chunk of answer.body ?? []) {
    read += Buffer.from(chunk).toString();
    if (read.includes(text)) return performance.now() - began;
  }
  throw new Error(`"${text}" never came: ${read}`);
}

type Times = Readonly<Record<"ready" | "token" | "tool", number>>;

/** Starts a service and asks it at once: milliseconds until it is ready, until the first token, and until the end of a tool call. */
async function firstTimes(bin: string, home: string, env: Readonly<Record<string, string>>): Promise<Times> {
  const began = performance.now();
  const own = {
    GATEWAY_AUTH_TOKEN: TOKEN,
    HTTP_ENABLED: "true",
    HTTP_PORT: "0",
    HTTP_WEBHOOK_SECRET: "bench-secret",
  };
  const service = await serve(home, { ...own, ...env }, bin);
  const ready = performance.now() - began;
  try {
    const token = await untilText(service.url, "Say it", "the first token");
    const tool = await untilText(service.url, "Convert it", "converted");
    return { ready, token, tool };
  } finally {
    await stopServing(service);
  }
}

/** `postern tool run`, which also installs what comes with Postern where that was never done. */
const toolRun = (bin: string, home: string) =>
  toTheEnd(home, bin, "tool", "run", "convert", JSON.stringify(CONVERT));

export const bench: Bench = {
  name: "start",
  about:
    "from typing to the answer, as published; cold: an empty home and nothing compiled; warm: the second time",
  run: (progress) =>
    inFolder(async (folder) => {
      const home = join(folder, "home");
      const model = await startModelServer();
      model.otherwise(({ messages }) => {
        const last = messages.at(-1);
        if (last?.role === "tool") return { text: "converted" };
        return JSON.stringify(last).includes("Convert it")
          ? { calls: [{ name: "convert", arguments: CONVERT }] }
          : { text: "the first token" };
      });
      const env = { MODEL_BASE_URL: model.url, MODEL_NAME: "scripted" };
      const empty = () => mkdtempSync(join(folder, "cold-"));
      const coldEnv = () => ({ ...env, NODE_COMPILE_CACHE: empty(), TOOLS_SHIPPED: "false" });
      try {
        progress("bundling Postern as it is published, and building the tools that come with it");
        const bin = publish(join(folder, "published"));
        await toolRun(bin, home);
        const [warm, cold]: [Times[], Times[]] = [[], []];
        const timed = async (list: Times[], times: Promise<Times>) => {
          list.push(await times);
          return list.at(-1)?.ready ?? Number.NaN;
        };
        const warmSamples = await interleave(
          {
            "node -e 0": () => toTheEnd(home, "-e", "0"),
            "postern --help": () => toTheEnd(home, bin, "--help"),
            "postern tool list": () => toTheEnd(home, bin, "tool", "list"),
            "postern doctor": () => toTheEnd(home, bin, "doctor"),
            "postern serve, until ready": () => timed(warm, firstTimes(bin, home, env)),
            "postern serve, until ready, from a clone": () => timed([], firstTimes(BIN, home, env)),
            "postern tool run": () => toolRun(bin, home),
          },
          ROUNDS,
          progress,
        );
        const coldSamples = await interleave(
          {
            "postern serve, until ready, cold": () => timed(cold, firstTimes(bin, empty(), coldEnv())),
            "postern tool run, cold": () => toolRun(bin, empty()),
          },
          COLD_ROUNDS,
          progress,
        );
        const samples = {
          ...warmSamples,
          ...coldSamples,
          "first token after a start": warm.map(({ token }) => token),
          "first token after a cold start": cold.map(({ token }) => token),
          "first tool call after a start, as a turn": warm.map(({ tool }) => tool),
        };
        const goals = {
          "postern --help": within(200, "ms"),
          "postern tool list": within(200, "ms"),
          "postern doctor": within(200, "ms"),
          "postern tool run, cold": within(1000, "ms"),
          "postern serve, until ready": within(450, "ms"),
        };
        return compare(samples, { unit: "ms", goals });
      } finally {
        await model.close();
      }
    }),
};

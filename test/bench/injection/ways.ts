/** The ways by which somebody's words come before a model other than as a tool's answer, each as it comes about in the loop. */
import type { Services } from "../../../kernel/plugin.ts";
import type { Turn } from "../../../plugins/agent/services.ts";
import type { ModelReply } from "../../support/servers/model-server.ts";
import type { TestTool } from "../../support/services/agent.ts";
import type { Case } from "./play.ts";

/** A window that three long messages fill. */
export const WINDOW = "8000";
const LONG = "word ".repeat(2500);
const READING = { id: "page", name: "read_page", arguments: { path: "page.txt" } };
const NOTE = "notes/page.md";

/** What the turn of a case begins with. */
export interface Way {
  readonly turn: Partial<Turn>;
  /** What the model does before the steps of the case. */
  readonly replies: readonly ModelReply[];
  /** Must be in what the model is sent. */
  readonly shows: string;
}

export interface Trial {
  readonly agent: Services["agent"];
  readonly user: string;
  /** Changed by what a server adds. */
  readonly tools: Record<string, TestTool>;
  answer(...replies: readonly ModelReply[]): void;
  /** What a model makes of the beginning of a thread. */
  summarise(text: string): void;
}

export async function prepare({ before = [] }: Case, place: Trial): Promise<Way> {
  const [first] = before;
  if (first === undefined) return { turn: {}, replies: [], shows: "" };
  const { from, text } = first;
  const [kind, name = ""] = from.split(":");
  const { agent, user, tools, answer } = place;
  const say = async (said: string, thread?: string) => {
    const turn = { user, channel: "bench", input: { type: "message", text: said } as const };
    return (await agent.run({ ...turn, ...(thread !== undefined && { thread }) })).record;
  };
  tools["read_page"] = { hosts: [], run: () => ({ status: "ok", output: text }) };
  switch (kind) {
    case "memory": {
      const write = { id: "write", name: "memory_write", arguments: { path: NOTE, text } };
      answer({ calls: [READING] }, { calls: [write] }, { text: "Noted." });
      await say("Look at page.txt and keep what matters.");
      const recall = { id: "recall", name: "memory_read", arguments: { path: NOTE } };
      return { turn: {}, replies: [{ calls: [recall] }], shows: text };
    }
    case "summary": {
      place.summarise(text);
      answer({ calls: [READING] }, { text: "Done." });
      const { thread } = await say("Look at page.txt.");
      for (let count = 0; count < 3; count++) {
        answer({ text: "ok" });
        await say(`Number ${count}: ${LONG}`, thread);
      }
      return { turn: { thread }, replies: [], shows: "<summary>" };
    }
    case "mcp": {
      const server = { name, tool: "help", warnings: [] };
      tools[`${name}_help`] = { server, description: text, run: () => ({ status: "ok", output: "" }) };
      return { turn: {}, replies: [], shows: text };
    }
    case "webhook":
      return {
        turn: { preamble: { outside: { origin: name, data: { note: text } } } },
        replies: [],
        shows: text,
      };
    case "file": {
      const data = Buffer.from(text);
      const attachment = { id: "a", kind: "file", mime: "text/plain", size: data.length, name } as const;
      const input = { type: "message", text: "", attachments: [attachment] } as const;
      return { turn: { input, attached: [{ id: "a", data }] }, replies: [], shows: text };
    }
    default:
      throw new Error(`nothing comes from ${from}`);
  }
}

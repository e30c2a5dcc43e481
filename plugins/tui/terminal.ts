/** Takes over the terminal, and restores it on close. */
import { isDeepStrictEqual } from "node:util";
import { render } from "ink";
import { createElement as h } from "react";
import { OPERATOR } from "../../kernel/kit.ts";
import { Fault, type Kernel, reason, type Use } from "../../kernel/plugin.ts";
import { complete, runSlash } from "./commands/slash.ts";
import { createChangeSignal } from "./conversation/change-signal.ts";
import { type Conversation, createConversation } from "./conversation/conversation.ts";
import { createPendingFiles } from "./files/pending-files.ts";
import { createRenderer } from "./screen/entry-lines.ts";
import {
  REQUEST_OTHER_KEYS,
  REQUEST_WHEEL,
  RESET_OTHER_KEYS,
  RESET_WHEEL,
  withOtherKeys,
} from "./screen/key-encoding.ts";
import { type BrokenLink, Screen } from "./screen/screen.ts";
import { createView } from "./screen/view.ts";
import { createHighlighter } from "./text/highlighter.ts";
import { createPalette } from "./text/palette.ts";

const FRAMES_PER_SECOND = 60;
const PULSE_MILLIS = 1000;

export function openTerminal(
  use: Use<"kernel" | "agent" | "threads" | "attachments", "tools" | "jobs" | "memory">,
  resumed?: string,
) {
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    throw new Fault(
      "config",
      "no_terminal",
      'the terminal UI needs a terminal: run "postern serve" or set CLI_ENABLED=false',
      { param: "CLI_ENABLED" },
    );
  }
  const { kernel, agent, threads, attachments, jobs } = use;
  const palette = createPalette(process.stdout.hasColors());
  const conversation = createConversation({ agent, threads, attachments, user: OPERATOR });
  const quit = () => {
    isOpen = false;
    instance.unmount();
    kernel.shutdown();
  };
  const pendingFiles = createPendingFiles(attachments, conversation, OPERATOR);
  let modelNames: readonly string[] = [];
  /** Servers are asked for their models, so the first Tab may come too early to complete one. */
  async function lookUpModels(): Promise<void> {
    modelNames = (await agent.models()).items.map(({ name }) => name);
  }
  // OSC 52 reaches the clipboard of the machine the person sits at, also over SSH.
  const copy = (text: string) =>
    void process.stdout.write(`\u001b]52;c;${Buffer.from(text).toString("base64")}\u001b\\`);
  const parts = {
    ...use,
    user: OPERATOR,
    conversation,
    pendingFiles,
    modelNames() {
      // A server that fails is named by the command itself.
      lookUpModels().catch(() => {});
      return modelNames;
    },
    copy,
    quit,
  };
  const refuse = (error: unknown) => void conversation.note(reason(error), "bad");
  const view = createView({
    conversation,
    async submit(text, isPasted) {
      if (!text.startsWith("/")) return pendingFiles.send(text, isPasted);
      await runSlash(text, parts).catch(refuse);
      return true;
    },
    completeCommand: (text) => complete(text, parts),
    repaint: () => instance.clear(),
    quit,
  });
  let counted = { queued: 0, running: 0 };
  const readStore = async () => {
    await conversation.lookUpTitle();
    counted = (await jobs?.counts()) ?? counted;
  };
  const pulse = createPulse(() => {
    // If the store fails, the screen keeps what it read last.
    readStore().catch(() => {});
    return { jobs: counted, plugins: kernel.plugins(), lines: kernel.lines() };
  });
  if (resumed !== undefined) conversation.open(resumed).catch(refuse);
  pulse.subscribe(greet(conversation, kernel, resumed !== undefined));

  const status = () => {
    const { title, spent, model = agent.model() } = conversation;
    const { jobs: counts, plugins } = pulse.seen();
    return { model, title, spent, plugins, jobs: counts };
  };
  const highlighter = palette.hasColours ? createHighlighter(conversation.changed) : undefined;
  const renderer = createRenderer(palette, highlighter);
  let broken: BrokenLink | undefined;
  const onBrokenLink = (link: BrokenLink | undefined) => {
    broken = link;
  };
  const props = { conversation, pendingFiles, view, renderer, palette, status, onBrokenLink, pulse };
  // Before the first frame: a key pressed earlier would be echoed, and Enter would arrive as Ctrl+J.
  process.stdin.setRawMode(true);
  // For terminals without the Kitty protocol. Reset at the very end, however the process ends.
  process.stdout.write(REQUEST_OTHER_KEYS + REQUEST_WHEEL);
  const reset = () => void process.stdout.write(RESET_OTHER_KEYS + RESET_WHEEL);
  process.once("exit", reset);
  const joinLink = () => {
    if (broken && isOpen) process.stdout.write(overprint(broken));
  };
  let isOpen = true;
  const instance = render(h(Screen, props), {
    stdin: withOtherKeys(process.stdin),
    alternateScreen: true,
    exitOnCtrlC: false,
    incrementalRendering: true,
    interactive: true,
    maxFps: FRAMES_PER_SECOND,
    // The frame is written after this call.
    onRender: () => setImmediate(joinLink),
    // "auto" needs the terminal to reply within 200 ms, which a busy start misses. Terminals without the
    // protocol ignore it.
    kittyKeyboard: { mode: "enabled" },
  });
  return {
    async close(): Promise<void> {
      isOpen = false;
      pulse.stop();
      conversation.close();
      await highlighter?.close();
      instance.unmount();
      await instance.waitUntilExit();
      process.off("exit", reset);
      reset();
      // The shell's screen is back now.
      if (conversation.thread !== undefined)
        process.stdout.write(`To continue this thread: postern --thread ${conversation.thread}\n`);
    },
  };
}

/** Polls state that has no change events: now, on the next tick, and then every second. */
function createPulse<Seen>(look: () => Seen) {
  const { subscribe, version, changed } = createChangeSignal();
  let seen = look();
  const beat = () => {
    const now = look();
    if (isDeepStrictEqual(now, seen)) return;
    seen = now;
    changed();
  };
  const soon = setImmediate(beat);
  const timer = setInterval(beat, PULSE_MILLIS);
  return {
    seen: () => seen,
    subscribe,
    version,
    stop() {
      clearImmediate(soon);
      clearInterval(timer);
    },
  };
}

/**
 * Writes an address that is longer than the screen is wide in one go over the rows it was drawn on. Drawn row by row it would be
 * several lines to the terminal: a click would open the first, and a copy would have a break in it. Written like this it
 * wraps by itself, so terminals and tmux know it as one line, and those that know OSC 8 as a hyperlink.
 */
function overprint({ link, row }: BrokenLink): string {
  return `\u001b7\u001b[${row + 1};1H\u001b[4m\u001b]8;;${link}\u001b\\${link}\u001b]8;;\u001b\\\u001b[24m\u001b8`;
}

/**
 * Shows the start-up table as the first notes, since the full screen leaves no room to print it; a resumed thread gets only the
 * link. Returns a function that brings it up to date: channels that start after this one get their addresses later.
 */
function greet(
  conversation: Pick<Conversation, "note" | "rewrite">,
  kernel: Kernel,
  isBrief: boolean,
): () => void {
  const [table, address] = [isBrief ? undefined : conversation.note(""), conversation.note("")];
  if (!isBrief) conversation.note("Type a message, or */help*.");
  const update = () => {
    const lines = kernel.lines().map((line) => LINK.exec(line)?.groups ?? { words: line });
    const link = lines.find(({ url }) => url !== undefined);
    const others = lines.filter((line) => line !== link).map(({ words }) => words ?? "");
    if (table !== undefined) conversation.rewrite(table, tableOf(kernel, others));
    conversation.rewrite(address, link?.["words"] ?? "", link?.["url"]);
  };
  update();
  return update;
}

const LINK = /^(?<words>[^:]*) (?<url>https?:\/\/[!-~]+)$/;

function tableOf(kernel: Kernel, lines: readonly string[]): string {
  const rows = kernel
    .plugins()
    .map(({ name, on, detail }) => `| ${name} | ${on ? "on" : "off"} | ${detail} |`);
  return `# Postern ${kernel.version}\n\n| | | |\n|---|---|---|\n${rows.join("\n")}${lines.map((line) => `\n\n${line}`).join("")}`;
}

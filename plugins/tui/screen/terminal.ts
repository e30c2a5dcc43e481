/** Takes over the terminal, and restores it on close. */
import { isDeepStrictEqual } from "node:util";
import { render } from "ink";
import { createElement as h } from "react";
import { OPERATOR } from "../../../kernel/kit.ts";
import { Fault, reason, type Use } from "../../../kernel/plugin.ts";
import { createModelNames } from "../commands/model.ts";
import { complete, runSlash } from "../commands/slash.ts";
import { createConversation } from "../conversation.ts";
import { createAttaching } from "../files/attaching.ts";
import { greet } from "../welcome.ts";
import { createRenderer } from "./entries.ts";
import {
  REQUEST_OTHER_KEYS,
  REQUEST_WHEEL,
  RESET_OTHER_KEYS,
  RESET_WHEEL,
  withOtherKeys,
} from "./other-keys.ts";
import { type BrokenLink, Screen } from "./screen.ts";
import { statusLine } from "./status.ts";
import { createHighlighter } from "./text/highlighter.ts";
import { overprint } from "./text/link.ts";
import { createPalette } from "./text/palette.ts";
import { createView } from "./view.ts";

export interface Terminal {
  close(): Promise<void>;
}

const FRAMES_PER_SECOND = 60;
const PULSE_MILLIS = 1000;

export function openTerminal(
  use: Use<"kernel" | "agent" | "threads" | "attachments", "tools" | "jobs" | "memory">,
  resumed?: string,
): Terminal {
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    throw new Fault(
      "config",
      "no_terminal",
      'the terminal UI needs a terminal: run "postern serve" or set CLI_ENABLED=false',
      { param: "CLI_ENABLED" },
    );
  }
  const { kernel, agent, threads, attachments, tools, jobs, memory } = use;
  const palette = createPalette(process.stdout.hasColors());
  const conversation = createConversation({ agent, threads, attachments, user: OPERATOR });
  const quit = () => {
    isOpen = false;
    instance.unmount();
    kernel.shutdown();
  };
  const attaching = createAttaching({ attachments, conversation, user: OPERATOR });
  const models = createModelNames(agent);
  // OSC 52: the clipboard of the machine the person sits at, also over SSH.
  const copy = (text: string) =>
    void process.stdout.write(`\u001b]52;c;${Buffer.from(text).toString("base64")}\u001b\\`);
  const parts = {
    user: OPERATOR,
    conversation,
    agent,
    threads,
    tools,
    jobs,
    memory,
    attaching,
    models,
    copy,
    quit,
  };
  const refuse = (error: unknown) => void conversation.note(reason(error), "bad");
  const view = createView({
    conversation,
    async submit(text, isPasted) {
      if (!text.startsWith("/")) return attaching.send(text, isPasted);
      await runSlash(text, parts).catch(refuse);
      return true;
    },
    completeCommand: (text) => complete(text, parts),
    repaint: () => instance.clear(),
    quit,
  });
  let counted = { queued: 0, running: 0 };
  const ask = async () => {
    await conversation.lookUpTitle();
    counted = (await jobs?.counts()) ?? counted;
  };
  const pulse = createPulse(() => {
    // Once a second, not on every frame; a store that does not answer shows what it said last.
    ask().catch(() => {});
    return { jobs: counted, plugins: kernel.plugins(), lines: kernel.lines() };
  });
  if (resumed !== undefined) conversation.open(resumed).catch(refuse);
  pulse.subscribe(greet(conversation, kernel, resumed !== undefined));

  const status = (width: number) => {
    const { title, spent, model = agent.model() } = conversation;
    const { jobs: counts, plugins } = pulse.seen();
    return statusLine({ model, title, spent, plugins, jobs: counts }, width);
  };
  // Made on the first block of code.
  const highlighter = palette.hasColours ? createHighlighter(conversation.changed) : undefined;
  const renderer = createRenderer(palette, highlighter);
  let broken: BrokenLink | undefined;
  const onBrokenLink = (link: BrokenLink | undefined) => {
    broken = link;
  };
  const screen = h(Screen, { conversation, attaching, view, renderer, palette, status, onBrokenLink, pulse });
  // Before the first frame: a key pressed earlier would be echoed, and Enter would arrive as Ctrl+J.
  process.stdin.setRawMode(true);
  // For terminals that have no Kitty protocol. Reset at the very end, however that comes.
  process.stdout.write(REQUEST_OTHER_KEYS + REQUEST_WHEEL);
  const reset = () => void process.stdout.write(RESET_OTHER_KEYS + RESET_WHEEL);
  process.once("exit", reset);
  const mendLink = () => {
    if (broken && isOpen) process.stdout.write(overprint(broken.link, broken.row));
  };
  let isOpen = true;
  const instance = render(screen, {
    stdin: withOtherKeys(process.stdin),
    alternateScreen: true,
    exitOnCtrlC: false,
    incrementalRendering: true,
    interactive: true,
    maxFps: FRAMES_PER_SECOND,
    // Once the frame is written.
    onRender: () => setImmediate(mendLink),
    // "auto" needs the terminal to reply within 200 ms, which a busy start misses. Terminals without the
    // protocol ignore it.
    kittyKeyboard: { mode: "enabled" },
  });
  return {
    async close() {
      isOpen = false;
      pulse.stop();
      conversation.close();
      await highlighter?.close();
      instance.unmount();
      await instance.waitUntilExit();
      process.off("exit", reset);
      reset();
      // On the screen that is back now.
      if (conversation.thread !== undefined)
        process.stdout.write(`To go on with this thread: postern --thread ${conversation.thread}\n`);
    },
  };
}

/** Polls state that has no change events: now, on the next tick, and then every second. */
function createPulse<Seen>(look: () => Seen) {
  const listeners = new Set<() => void>();
  let version = 0;
  let seen = look();
  const beat = () => {
    const now = look();
    if (isDeepStrictEqual(now, seen)) return;
    seen = now;
    version++;
    for (const listener of listeners) listener();
  };
  const soon = setImmediate(beat);
  const timer = setInterval(beat, PULSE_MILLIS);
  return {
    seen: () => seen,
    subscribe(listener: () => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    version: () => version,
    stop() {
      clearImmediate(soon);
      clearInterval(timer);
    },
  };
}

/** Takes over the terminal, and restores it on close. */
import { isDeepStrictEqual } from "node:util";
import { render } from "ink";
import { createElement as h } from "react";
import { Fault, reason, type Use } from "../../../kernel/plugin.ts";
import { OPERATOR } from "../../../kernel/vocabulary/user.ts";
import { createConversation } from "../conversation.ts";
import { runSlash } from "../slash.ts";
import { welcome } from "../welcome.ts";
import { createRenderer } from "./entries.ts";
import { REQUEST_OTHER_KEYS, RESET_OTHER_KEYS, withOtherKeys } from "./other-keys.ts";
import { createPalette } from "./palette.ts";
import { Screen } from "./screen.ts";
import { statusLine } from "./status.ts";
import { createView } from "./view.ts";

export interface Terminal {
  close(): Promise<void>;
}

const FRAMES_PER_SECOND = 60;
const PULSE_MILLIS = 1000;

export function openTerminal(
  use: Use<"kernel" | "agent" | "threads", "tools" | "jobs" | "memory">,
): Terminal {
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    throw new Fault(
      "config",
      "no_terminal",
      'the terminal UI needs a terminal: run "postern serve" or set CLI_ENABLED=false',
      { param: "CLI_ENABLED" },
    );
  }
  const { kernel, agent, threads, tools, jobs, memory } = use;
  const palette = createPalette(process.stdout.hasColors());
  const conversation = createConversation({ agent, threads, user: OPERATOR });
  const quit = () => {
    instance.unmount();
    kernel.shutdown();
  };
  const parts = { user: OPERATOR, conversation, agent, threads, tools, jobs, memory, quit };
  const view = createView({
    conversation,
    async submit(text) {
      if (!text.startsWith("/")) return conversation.send(text);
      await runSlash(text, parts).catch((error: unknown) => conversation.note(reason(error), "bad"));
      return true;
    },
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
  const greeting = conversation.note(welcome(kernel));
  // Channels that start after this one get their addresses later.
  pulse.subscribe(() => conversation.rewrite(greeting, welcome(kernel)));

  const status = (width: number) => {
    const { title, spent } = conversation;
    const { jobs: counts, plugins } = pulse.seen();
    return statusLine({ model: agent.model(), title, spent, plugins, jobs: counts }, width);
  };
  const screen = h(Screen, { conversation, view, renderer: createRenderer(palette), palette, status, pulse });
  // Before the first frame: a key pressed earlier would be echoed, and Enter would arrive as Ctrl+J.
  process.stdin.setRawMode(true);
  // For terminals that have no Kitty protocol. Reset at the very end, however that comes.
  process.stdout.write(REQUEST_OTHER_KEYS);
  const reset = () => void process.stdout.write(RESET_OTHER_KEYS);
  process.once("exit", reset);
  const instance = render(screen, {
    stdin: withOtherKeys(process.stdin),
    alternateScreen: true,
    exitOnCtrlC: false,
    incrementalRendering: true,
    interactive: true,
    maxFps: FRAMES_PER_SECOND,
    // "auto" needs the terminal to reply within 200 ms, which a busy start misses. Terminals without the
    // protocol ignore it.
    kittyKeyboard: { mode: "enabled" },
  });
  return {
    async close() {
      pulse.stop();
      conversation.close();
      instance.unmount();
      await instance.waitUntilExit();
      process.off("exit", reset);
      reset();
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

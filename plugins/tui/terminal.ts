/** Takes the terminal over and gives it back as it was. */
import { render } from "ink";
import { createElement as h } from "react";
import { reason, type Use } from "../../kernel/plugin.ts";
import { createConversation } from "./conversation.ts";
import { createRenderer } from "./entries.ts";
import { createPalette } from "./palette.ts";
import { OPERATOR } from "./person.ts";
import { Screen } from "./screen.ts";
import { runSlash } from "./slash.ts";
import { statusLine } from "./status.ts";
import { createView } from "./view.ts";
import { welcome } from "./welcome.ts";

export interface Terminal {
  close(): Promise<void>;
}

const FRAMES_PER_SECOND = 60;
const PULSE_MILLIS = 1000;

export function openTerminal(
  use: Use<"kernel" | "agent" | "threads", "tools" | "jobs" | "memory">,
): Terminal {
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
    submit(text) {
      if (!text.startsWith("/")) conversation.send(text);
      else runSlash(text, parts).catch((error: unknown) => conversation.note(reason(error), "bad"));
    },
    repaint: () => instance.clear(),
    quit,
  });
  const pulse = createPulse(() => {
    const { queued, running } = jobs?.counts() ?? { queued: 0, running: 0 };
    return JSON.stringify([kernel.plugins(), queued, running]);
  });
  // The channels that start after this one have their addresses by then.
  const greeting = setImmediate(() => conversation.note(welcome(kernel)));

  const status = (width: number) => {
    const thread = conversation.thread;
    const title = thread === undefined ? undefined : threads.find(OPERATOR, thread)?.title;
    return statusLine({ model: agent.model(), title, spent: conversation.spent, kernel, jobs }, width);
  };
  const screen = h(Screen, { conversation, view, renderer: createRenderer(palette), palette, status, pulse });
  // Before the first frame, not after it: a key pressed in between would be echoed, and Enter read as Ctrl+J.
  process.stdin.setRawMode(true);
  const instance = render(screen, {
    alternateScreen: true,
    exitOnCtrlC: false,
    incrementalRendering: true,
    interactive: true,
    maxFps: FRAMES_PER_SECOND,
    // Asking first needs an answer within 200 ms, which a busy start misses; who does not know it ignores it.
    kittyKeyboard: { mode: "enabled" },
  });
  return {
    async close() {
      clearImmediate(greeting);
      pulse.stop();
      instance.unmount();
      await instance.waitUntilExit();
    },
  };
}

/** Looks once a second at what tells nobody of its changes. */
function createPulse(look: () => string) {
  const listeners = new Set<() => void>();
  let version = 0;
  let seen = "";
  const timer = setInterval(() => {
    const now = look();
    if (now === seen) return;
    seen = now;
    version++;
    for (const listener of listeners) listener();
  }, PULSE_MILLIS);
  return {
    subscribe(listener: () => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    version: () => version,
    stop: () => clearInterval(timer),
  };
}

/** Takes over the terminal, and restores it on close. */
import { isDeepStrictEqual } from "node:util";
import { render } from "ink";
import { createElement as h } from "react";
import { typedCommand } from "../../kernel/kit/terminal.ts";
import { Fault, reason, type Use } from "../../kernel/plugin.ts";
import { complete, runSlash, suggest } from "./commands/slash.ts";
import { createChangeSignal } from "./conversation/change-signal.ts";
import { type Conversation, createConversation } from "./conversation/conversation.ts";
import { createPathReader } from "./files/kept-paths.ts";
import { completeMention } from "./files/mentions.ts";
import { createPendingFiles } from "./files/pending-files.ts";
import { createRenderer } from "./screen/entry-lines.ts";
import {
  REQUEST_NAME,
  REQUEST_OTHER_KEYS,
  REQUEST_WHEEL,
  RESET_OTHER_KEYS,
  RESET_WHEEL,
  withOtherKeys,
} from "./screen/key-encoding.ts";
import { createPictures, showsPictures } from "./screen/pictures.ts";
import { type BrokenLink, Screen } from "./screen/screen.ts";
import { createView } from "./screen/view.ts";
import type { Terminal } from "./services.ts";
import { createHighlighter } from "./text/highlighter.ts";
import { quoted } from "./text/markdown.ts";
import { createPalette } from "./text/palette.ts";

// Streamed text is drawn at a slower pace of its own, so that a key shows at once, also right after such a frame.
const FRAMES_PER_SECOND = 250;
const PULSE_MS = 1000;
const REMOTE_BEATS = 30;
const TITLES_KNOWN = 50;
const KNOWN_MS = 5000;

export function openTerminal(
  { kernel, terminal }: Use<"kernel" | "terminal", never>,
  resumed?: string,
  /** Keys that came before there was anything to take them. */
  typed: readonly string[] = [],
) {
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    const message = 'the terminal UI needs a terminal: run "postern serve" or set CLI_ENABLED=false';
    throw new Fault("config", "no_terminal", message, { param: "CLI_ENABLED" });
  }
  const { joined, threads, files } = terminal;
  const palette = createPalette(process.stdout.hasColors(), (path) => pageOf(terminal, path));
  const conversation = createConversation(terminal);
  const quit = () => {
    isOpen = false;
    instance.unmount();
    kernel.shutdown();
  };
  const pendingFiles = createPendingFiles(terminal, conversation);
  // Servers are asked for their models, so the first Tab may come too early to complete one.
  const modelNames = createKnown(async () => (await terminal.models()).items.map(({ name }) => name));
  const threadTitles = createKnown(async () =>
    (await threads.list({ limit: TITLES_KNOWN })).items.map(({ title }) => title),
  );
  const readPaths = createPathReader(files);
  // OSC 52 reaches the clipboard of the machine the person sits at, also over SSH.
  const copy = (text: string) =>
    void process.stdout.write(`\u001b]52;c;${Buffer.from(text).toString("base64")}\u001b\\`);
  const parts = {
    terminal,
    conversation,
    pendingFiles,
    modelNames,
    threadTitles,
    keptPaths: createKnown(readPaths),
    describeService: () => describeService(terminal, kernel.lines()),
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
    completeMention: (before) => completeMention(before, readPaths),
    repaint: () => instance.clear(),
    quit,
  });
  let counted = { queued: 0, running: 0 };
  const readStore = async () => {
    await conversation.lookUpTitle();
    counted = await terminal.jobs.counts();
  };
  let beats = 0;
  let seenVersions = "";
  /** Over a network every second would be too often, and nothing is asked while nobody does anything. */
  const isDue = (): boolean => {
    if (!joined) return true;
    const versions = `${conversation.version()} ${view.version()}`;
    if (versions === seenVersions || beats++ % REMOTE_BEATS !== 0) return false;
    seenVersions = versions;
    return true;
  };
  const pulse = createPulse(() => {
    // If the store fails, the screen keeps what it read last.
    if (isDue()) readStore().catch(() => {});
    const problem = joined?.problem();
    return { jobs: counted, plugins: terminal.plugins(), lines: kernel.lines(), problem };
  });
  if (resumed !== undefined) conversation.open(resumed).catch(refuse);
  pulse.subscribe(greet(conversation, terminal, kernel.lines, resumed !== undefined));

  const status = () => {
    const { title, spent, fill, model = terminal.model() } = conversation;
    const { jobs: counts, plugins, problem } = pulse.seen();
    return { model, title, spent, fill, plugins, jobs: counts, problem, isJoined: joined !== undefined };
  };
  const highlighter = palette.hasColours ? createHighlighter(conversation.changed) : undefined;
  const pictures = createPictures({
    files,
    changed: conversation.changed,
    write: (text) => void (isOpen && process.stdout.write(text)),
  });
  const renderer = createRenderer(palette, highlighter, pictures);
  let broken: BrokenLink | undefined;
  const onBrokenLink = (link: BrokenLink | undefined) => {
    broken = link;
  };
  const look = { renderer, palette, status, onBrokenLink, pulse };
  const props = {
    conversation,
    pendingFiles,
    view,
    ...look,
    suggest: (text: string) => suggest(text, parts),
  };
  // Before the first frame: a key pressed earlier would be echoed, and Enter would arrive as Ctrl+J.
  process.stdin.setRawMode(true);
  // For terminals without the Kitty protocol. Reset at the very end, however the process ends.
  process.stdout.write(REQUEST_OTHER_KEYS + REQUEST_WHEEL + REQUEST_NAME);
  const reset = () => void process.stdout.write(RESET_OTHER_KEYS + RESET_WHEEL);
  process.once("exit", reset);
  const joinLink = () => {
    if (broken && isOpen) process.stdout.write(overprint(broken));
  };
  let isOpen = true;
  const instance = render(h(Screen, props), {
    stdin: withOtherKeys(process.stdin, typed, (name) => {
      if (showsPictures(name)) pictures.turnOn();
    }),
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
      pictures.close();
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
        process.stdout.write(
          `To continue this thread: ${joined?.command.replace(/^postern/, typedCommand()) ?? typedCommand()} --thread ${conversation.thread}\n`,
        );
      if (joined) process.stdout.write(`Postern keeps running at ${joined.url}\n`);
    },
  };
}

/** A list as it was read last. It is read again when somebody looks at it after a while. */
function createKnown<Item>(read: () => Promise<readonly Item[]>): () => readonly Item[] {
  let known: readonly Item[] = [];
  let readAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (Date.now() - readAt < KNOWN_MS) return known;
    readAt = Date.now();
    // What fails is named by the command itself.
    read().then(
      (items) => {
        known = items;
      },
      () => {},
    );
    return known;
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
  const timer = setInterval(beat, PULSE_MS);
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
 * Says in three lines what answers and where the page is, with three things to try; a resumed thread gets only the link. Returns a
 * function that brings it up to date: channels that start after this one get their addresses later.
 */
function greet(
  conversation: Pick<Conversation, "note" | "rewrite">,
  { version, model, plugins, tools }: Pick<Terminal, "version" | "model" | "plugins" | "tools">,
  lines: () => readonly string[],
  isBrief: boolean,
): () => void {
  const [head, address] = [isBrief ? undefined : conversation.note(""), conversation.note("")];
  const hint = isBrief ? undefined : conversation.note("");
  let installed: readonly string[] = [];
  let [last, seen] = ["", ""];
  // What comes with a new home is installed after the terminal stands, and the plugin of tools then says so.
  const look = () => {
    const states = JSON.stringify(plugins());
    if (isBrief || states === seen) return;
    seen = states;
    tools().then(
      (found) => {
        installed = found.filter(({ switchedOff, needs }) => !switchedOff && !needs).map(({ name }) => name);
        update();
      },
      () => {},
    );
  };
  const update = () => {
    look();
    const told = lines().map((line) => LINK.exec(line)?.groups ?? { words: line });
    const link = told.find(({ url }) => url !== undefined);
    const others = told.filter((line) => line !== link).map(({ words }) => quoted(words ?? ""));
    const { provider, name } = model();
    const answers = provider === "builtin" ? "the built-in model answers" : `${quoted(name)} answers`;
    const ideas = ideasFor(installed).map((idea) => `- ${idea}`);
    const next = JSON.stringify([told, answers, ideas]);
    if (next === last) return;
    last = next;
    if (head !== undefined)
      conversation.rewrite(head, [`**Postern ${version}** · ${answers}`, ...others].join("\n\n"));
    conversation.rewrite(address, link?.["words"] ?? "", link?.["url"]);
    if (hint !== undefined)
      conversation.rewrite(
        hint,
        `Type a message, or */help*. */status* shows what runs here. For example:\n\n${ideas.join("\n")}`,
      );
  };
  update();
  return update;
}

const IDEAS: readonly (readonly [tool: string, idea: string])[] = [
  ["convert", "Convert 26.2 miles to km"],
  ["weather", "What is the weather in Lisbon?"],
  ["web-search", "Search the web for sourdough starters"],
  ["read-page", "Summarise https://example.com"],
  ["run-code", "Calculate the first ten Fibonacci numbers"],
  ["", "What can you do?"],
  ["", "Remember that deploys are on Thursday."],
  ["", "What do you remember?"],
];
const MAX_IDEAS = 3;

/** Things to try that work with what is installed. */
function ideasFor(installed: readonly string[]): readonly string[] {
  const fitting = IDEAS.filter(([tool]) => tool === "" || installed.includes(tool));
  return fitting.slice(0, MAX_IDEAS).map(([, idea]) => idea);
}

/** Undefined while no page is served here. */
function pageOf({ joined, plugins }: Pick<Terminal, "joined" | "plugins">, path: string): string | undefined {
  const gateway = plugins().find(({ name, on }) => name === "gateway" && on);
  const origin = URL.parse(joined?.url ?? gateway?.detail.split(" ", 1)[0] ?? "")?.origin;
  const parts = path
    .replace(/^\//, "")
    .split("/")
    .map((part) => encodeURIComponent(part.toWellFormed()));
  return origin && `${origin}/#/files/${parts.join("/")}`;
}

const LINK = /^(?<words>[^:]*) (?<url>https?:\/\/[!-~]+)$/;

function describeService({ version, plugins }: Terminal, lines: readonly string[]): string {
  const rows = plugins().map(
    ({ name, on, detail }) => `| ${name} | ${on ? "on" : "off"} | ${quoted(detail)} |`,
  );
  return `**Postern ${version}**\n\n| | | |\n|---|---|---|\n${rows.join("\n")}${lines.map((line) => `\n\n${quoted(line)}`).join("")}`;
}

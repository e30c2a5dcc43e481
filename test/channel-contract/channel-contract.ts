/**
 * What every channel promises, as a list of clauses that any test runner can run (`postern/channel-contract`):
 *
 *   for (const { title, run } of channelContract({ plugin, settings, connect })) test(title, run);
 */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { within } from "../../kernel/deadline.ts";
import { Fault } from "../../kernel/fault.ts";
import { boot, type Running } from "../../kernel/kernel.ts";
import { createLog } from "../../kernel/log/log.ts";
import { createMask } from "../../kernel/mask/mask.ts";
import { type AnyPlugin, Off } from "../../kernel/plugin.ts";
import { Settings, type Variables } from "../../kernel/settings/env.ts";
import accounts from "../../plugins/accounts/plugin.ts";
import store from "../../plugins/store/plugin.ts";
import { createScriptedAgent, type ScriptedAgent, type Turn } from "./scripted-agent.ts";

export interface ChannelClient {
  /** Sends a message as a person would and returns everything that the person is shown in reply. */
  say(text: string): Promise<string>;
  close(): void | Promise<void>;
}

export interface ChannelUnderTest {
  readonly plugin: AnyPlugin;
  /** Other plugins that this one needs; the store, the accounts and the agent are there anyway. */
  readonly companions?: readonly AnyPlugin[];
  /** Settings with which it is on. Where it listens, port 0 keeps tests apart. */
  readonly settings?: Variables;
  readonly off: Variables;
  /** A new client of the running channel; `detail` is what the channel announced. */
  connect(channel: { readonly detail: string; readonly running: Running }): Promise<ChannelClient>;
}

export interface Clause {
  readonly title: string;
  run(): Promise<void>;
}

/** A conversation with a channel in this process, or with a whole service elsewhere. */
export interface Talk {
  client(): Promise<ChannelClient>;
  heard(): Promise<readonly Pick<Turn, "input" | "channel" | "user">[]>;
  /** Makes the agent say these pieces from now on; before, it repeats what it was told. */
  speak(pieces: readonly string[]): void;
  /** Makes turns fail from now on, and returns the words that a person has to see. */
  fail(): string;
}

interface Stage extends Talk {
  readonly agent: ScriptedAgent;
  readonly running: Running;
  readonly detail: string;
}

/** For what hangs, not for what is slow: the machine may have other work to do. */
const TIMEOUT_MS = 300_000;
const WORDS = 'Grüße, <b>"Ada"</b> & Ω 🚀\\n{"a":1}';
const BUG = "a bug with internals in its message";
const ERRORS = "What a turn says";
const STOP = "When the service stops";

export function channelContract(channel: ChannelUnderTest): readonly Clause[] {
  const { plugin } = channel;
  const clause = (title: string, section: string, play: (home: string) => Promise<void>): Clause => ({
    title: `${plugin.name}: ${title}`,
    run: () =>
      withHome(play).catch((error: Error) => {
        error.message += `\nRead "${section}" in plugins/README.md of Postern.`;
        throw error;
      }),
  });
  const onStage = (title: string, section: string, play: (stage: Stage) => Promise<void>): Clause =>
    clause(title, section, (home) => withStage(channel, home, play));

  return [
    clause(
      "it answers its settings without opening anything, and the same each time",
      "The parts",
      async () => {
        const configure = (variables: Variables) =>
          plugin.configure(new Settings(variables).for(plugin.name));
        const before = listeners();
        const [first, second] = [configure(channel.settings ?? {}), configure(channel.settings ?? {})];
        assert.ok(!(first instanceof Off), "with the settings of the test it is on");
        assert.equal(JSON.stringify(first), JSON.stringify(second));
        const off = configure(channel.off);
        assert.ok(off instanceof Off && off.why !== "", "it can be turned off, and says why it is");
        assert.equal(listeners(), before);
      },
    ),
    ...conversation(plugin.name).map(({ title, section, play }) => onStage(title, section, play)),
    onStage("a turn that cannot begin is told in its own words", ERRORS, async (stage) => {
      stage.agent.script = () => {
        throw new Fault("limited", "too_many", "Too many messages at once.");
      };
      assert.ok((await say(stage, "hello")).includes("Too many messages at once."));
    }),
    onStage("a bug is answered without its internals, and the channel goes on", ERRORS, async (stage) => {
      stage.agent.script = () => {
        throw new TypeError(BUG);
      };
      const told = await say(stage, "hello");
      assert.ok(
        !told.includes(BUG) && !/\bat .+:\d+:\d+/.test(told),
        "what went wrong inside is for the log",
      );
      stage.agent.script = () => ["Here again."];
      assert.ok((await say(stage, "hello?")).includes("Here again."));
    }),
    onStage("it stops in time while a turn is under way", STOP, async (stage) => {
      stage.agent.script = async function* () {
        yield "Wait";
        await new Promise(() => {});
      };
      const client = await stage.client();
      const answer = client.say("are you there?").catch(() => "gone");
      while (stage.agent.turns.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
      assert.deepEqual(await stage.running.stop(), []);
      await within(TIMEOUT_MS, "the client was left hanging", () => answer);
      await client.close();
    }),
    clause("when it has stopped nothing of it is open, and it can start again", STOP, async (home) => {
      const before = listeners();
      for (const round of ["once", "twice"]) {
        await withStage(channel, home, async (stage) => {
          assert.notEqual(stage.detail, "", "it announces where it is reached");
          assert.ok((await say(stage, round)).includes(`You said: ${round}`));
        });
        await assertClosed(before);
      }
    }),
  ];
}

/** The clauses that can be seen from outside, for one channel. */
export function conversation(
  channel: string,
): readonly { readonly title: string; readonly section: string; play(talk: Talk): Promise<void> }[] {
  return [
    {
      title: "a message reaches the agent word for word, from somebody, by this channel",
      section: "Who somebody is",
      async play(talk) {
        await say(talk, WORDS);
        const heard = await talk.heard();
        assert.equal(heard.length, 1);
        const [turn] = heard;
        assert.deepEqual(turn?.input, { type: "message", text: WORDS });
        assert.equal(turn?.channel, channel);
        assert.notEqual(turn?.user, "");
      },
    },
    {
      title: "what the agent says comes back whole and in order",
      section: "What a turn says",
      async play(talk) {
        const pieces = ["One, ", "two 🐢", " — ", WORDS];
        talk.speak(pieces);
        assert.ok((await say(talk, "count")).includes(pieces.join("")));
      },
    },
    {
      title: "clients at once get each their own answer",
      section: "Where a conversation is kept",
      async play(talk) {
        const words = ["apple", "pear", "plum"];
        const said = await Promise.all(words.map((word) => say(talk, word)));
        assert.deepEqual(
          said.map((text) => words.filter((word) => text.includes(`You said: ${word}`))),
          words.map((word) => [word]),
        );
      },
    },
    {
      title: "a turn that fails on its way is told in its own words",
      section: ERRORS,
      async play(talk) {
        const words = talk.fail();
        assert.ok((await say(talk, "hello")).includes(words));
      },
    },
  ];
}

async function say({ client }: Talk, text: string): Promise<string> {
  const opened = await client();
  try {
    return await within(TIMEOUT_MS, `"${text}" was not answered`, () => opened.say(text));
  } finally {
    await opened.close();
  }
}

/** A handle that was closed is gone a few turns of the event loop later. */
async function assertClosed(before: number): Promise<void> {
  for (let tries = 0; tries < 100 && listeners() !== before; tries++)
    await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(listeners(), before, "a listener stayed open");
}

function listeners(): number {
  return process.getActiveResourcesInfo().filter((name) => /ServerWrap$/.test(name)).length;
}

async function withHome(work: (home: string) => Promise<void>): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), "postern-contract-"));
  try {
    await work(home);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

async function withStage(
  { plugin, companions = [], settings = {}, connect }: ChannelUnderTest,
  home: string,
  play: (stage: Stage) => Promise<void>,
): Promise<void> {
  const mask = createMask();
  const agent = createScriptedAgent();
  const running = await boot({
    plugins: [store as AnyPlugin, accounts as AnyPlugin, agent.plugin, ...companions, plugin],
    settings: new Settings(settings, {}, mask.add),
    home,
    log: createLog("debug", mask, { pretty: false, write: () => {} }),
    mask,
    version: "0.0.0-contract",
  });
  try {
    const { on, detail = "" } = running.states.find(({ name }) => name === plugin.name) ?? {};
    assert.ok(on, `it is off: ${detail}`);
    await play({
      agent,
      running,
      detail,
      client: () => connect({ detail, running }),
      heard: async () => agent.turns,
      speak(pieces) {
        agent.script = () => pieces;
      },
      fail() {
        agent.script = async function* () {
          yield "Well, ";
          throw new Fault("turn", "model_gone", "The model went away.");
        };
        return "The model went away.";
      },
    });
  } finally {
    assert.deepEqual(await running.stop(), [], "these plugins did not stop cleanly");
  }
}

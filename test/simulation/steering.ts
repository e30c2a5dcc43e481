/** People who go on talking while their turn runs: what they say is heard once, by that turn or as one of its own, or taken back and never heard. */
import { Fault } from "../../kernel/plugin.ts";
import { ask, pause } from "./client.ts";
import { inside } from "./machine.ts";
import { type Deed, type Part, type SimulatedNode, TROUBLE_MS, type World } from "./world.ts";

const KIND = "talk";
const VERBS = ["post", "say", "append", "save"];
const MAX_MORE = 5;
/** Mostly within the time that a tool or a model takes to answer. */
const MAX_PAUSE_MS = 6000;
const TAKES_BACK = 0.2;
/** How often somebody says after which message theirs comes, as the page does. */
const SAYS_AFTER = 0.3;
/** How often the operator of a node alone unloads a plugin meanwhile, which interrupts what runs, and its disk is full just then. */
const UNLOADS = 0.3;
const MAX_FULL_MS = 4000;

interface Said {
  readonly what: string;
  readonly talk: number;
  /** What is known of it outside. Of what nobody answered nothing is. */
  state: "unanswered" | "acknowledged" | "refused" | "taken back";
  /** The node that is to tell its end. */
  waitsOn?: SimulatedNode | undefined;
}

interface StoredMessage {
  readonly turn: string;
  readonly status: string;
  readonly body: string;
}

export function steeringPart(): Part {
  const said: Said[] = [];
  let talking = 0;

  async function talk(world: World, { number }: Deed): Promise<void> {
    const { chance } = world.machine;
    let thread: string | undefined;
    let newest: string | undefined;
    talking++;
    for (let left = 2 + Math.floor(chance() * MAX_MORE), at = 0; at < left; at++) {
      const one: Said = { what: `t${number}m${at}`, talk: number, state: "unanswered" };
      said.push(one);
      const message = { text: `${VERBS[(number + at) % VERBS.length]} ${one.what}`, thread };
      const after = chance() < SAYS_AFTER ? newest : undefined;
      const id = await say(world, one, { ...message, ...(after !== undefined && { after }) });
      thread ??= id?.thread;
      newest = id?.turn ?? newest;
      await pause(world, Math.floor(chance() ** 3 * MAX_PAUSE_MS));
      if (id !== undefined && chance() < TAKES_BACK) await takeBack(world, one, id.turn);
      if (mayUnload(world) && chance() < UNLOADS) unload(world);
    }
    talking--;
  }

  function unload(world: World): void {
    const [node] = world.serving();
    const now = world.machine.now();
    if (node === undefined || node.stoppedUntil > now || now > TROUBLE_MS) return;
    node.fullUntil = now + Math.floor(world.machine.chance() * MAX_FULL_MS);
    world.note(node, "a plugin is unloaded while the disk is full");
    world.count("unloaded plugins", 1);
    void inside(node, () => world.service(node, "agent").extend({})());
  }

  /** As the route that steers asks for it. Nobody says the same again: it could have been heard. */
  async function say(
    world: World,
    one: Said,
    {
      text,
      ...place
    }: { readonly text: string; readonly thread: string | undefined; readonly after?: string },
  ): Promise<{ readonly turn: string; readonly thread: string } | undefined> {
    const answer = await ask(world, async (use, node) => {
      const turn = await use("agent").run({
        ...{ user: userOf(one), channel: "gateway", ...place },
        input: { type: "message", text },
        work: { steers: true },
        keeping: { survivesRestart: true },
      });
      return { node, turn };
    });
    if (answer === undefined) return undefined;
    if ("error" in answer) {
      const isRefused = answer.error instanceof Fault && answer.error.kind !== "unavailable";
      if (isRefused) one.state = "refused";
      return void world.note(undefined, `"${text}" was refused: ${answer.error}`);
    }
    const { node, turn } = answer.value;
    one.state = "acknowledged";
    // A message in a turn of another node is followed by polling, which nobody does in a quiet world.
    if (!world.plan.isQuiet) one.waitsOn = node;
    const hear = () => {
      one.waitsOn = undefined;
    };
    inside(node, () => turn.record.then(hear, hear));
    world.note(undefined, `"${text}" is acknowledged`);
    return { turn: turn.id, thread: turn.thread };
  }

  async function takeBack(world: World, one: Said, turn: string): Promise<void> {
    const answer = await ask(world, (use) => use("agent").takeBack(userOf(one), turn));
    // Of what nobody answered, or not with certainty, nothing is known.
    if (answer === undefined || "error" in answer) one.state = "unanswered";
    else if (answer.value) one.state = "taken back";
    world.note(undefined, `${one.what} is ${one.state}, after it was to be taken back`);
  }

  async function checkTalk(world: World, own: readonly Said[]): Promise<void> {
    const rows = await world.database.all<StoredMessage>(
      `SELECT turns.id AS turn, turns.status, body FROM turn_items JOIN turns ON turns.id = turn
       WHERE turns."user" = ? ORDER BY turns.seq, turn_items.seq`,
      userOf(own[0] as Said),
    );
    const stored = rows.flatMap(({ status, body }) => {
      const { type, role, text } = JSON.parse(body) as { type: string; role?: string; text?: string };
      return type === "message" && role === "user" ? [{ status, what: text?.split(" ")[1] as string }] : [];
    });
    world.count("steered messages", stored.length - new Set(rows.map(({ turn }) => turn)).size);
    world.count("messages taken back", own.filter(({ state }) => state === "taken back").length);
    for (const { what, state, waitsOn } of own) {
      const found = stored.filter((one) => one.what === what);
      const heard = world.heard.map((words) => words.filter((word) => word === what).length);
      const posts = world.posted.filter((one) => one === what).length;
      if (found.length > 1 || Math.max(...heard, posts) > 1)
        world.violate(
          "nothing counts twice",
          `${what} is in ${found.length} turns, or was heard twice there`,
        );
      const isHeard = found.length > 0 || heard.some((times) => times > 0);
      if ((state === "refused" || state === "taken back") && isHeard)
        world.violate("nothing that was taken back is heard", `${what} was ${state}, and heard`);
      if (state !== "acknowledged") continue;
      if (found.length === 0) world.violate("nothing acknowledged is lost", `${what} is in no turn`);
      // A turn that was cut short keeps what it was to hear.
      else if (found[0]?.status === "completed" && !heard.some((times) => times > 0))
        world.violate("nothing acknowledged is lost", `${what} is in a turn that did not hear it`);
      if (waitsOn?.isDead === false)
        world.violate("nothing acknowledged is lost", `whoever said ${what} was told of no end`);
    }
    const asked = own.filter(({ state }) => state === "acknowledged").map(({ what }) => what);
    const order = stored.map(({ what }) => what).filter((what) => asked.includes(what));
    // What a turn that is cut short has not come to waits in line again, behind what waited then.
    const isCutShort = stored.some(({ status }) => status === "failed");
    if (!isCutShort && order.join() !== asked.filter((what) => order.includes(what)).join())
      world.violate("order within a thread", `said ${asked.join(", ")}; heard ${order.join(", ")}`);
  }

  return {
    deeds: { [KIND]: (world, deed) => void talk(world, deed) },
    isDone: async () => talking === 0 && said.every(({ waitsOn }) => waitsOn === undefined || waitsOn.isDead),
    async check(world) {
      for (const own of Map.groupBy(said, ({ talk }) => talk).values()) await checkTalk(world, own);
    },
  };
}

/** What else is under way then is not looked at yet. */
const mayUnload = ({ plan: { isFleet, isQuiet, deeds } }: World): boolean =>
  !isFleet && !isQuiet && deeds.every(({ kind }) => kind === KIND);

const userOf = ({ talk }: Said): string => `talker ${talk}`;

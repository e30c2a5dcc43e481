/** A world: nodes with the real plugins, on one store, with one clock; and everything that happens in it, from one plan. */
import { createHash } from "node:crypto";
import { boot, type Running } from "../../kernel/kernel.ts";
import { createLog } from "../../kernel/log/log.ts";
import { createMask } from "../../kernel/mask/mask.ts";
import type { AnyPlugin, Services, Sql } from "../../kernel/plugin.ts";
import { Settings } from "../../kernel/settings/env.ts";
import { random } from "../support/services/chat-model.ts";
import { drawFates, type Fate, repeatFates, type Trouble } from "./fates.ts";
import { createMachine, inside, type Machine, type Process } from "./machine.ts";
import type { Database } from "./memory.ts";
import { pluginsOf } from "./plugins.ts";
import { createSignalling } from "./signalling.ts";

export interface Plan {
  readonly seed: number;
  readonly nodes: number;
  readonly isFleet: boolean;
  /** Whether nothing fails, and nodes look for work so rarely that they have to hear of it. */
  readonly isQuiet?: boolean;
  /** How likely trouble is at each write. */
  readonly rate: number;
  /** What the people and programs outside do; kinds and numbers say all. */
  readonly deeds: readonly Deed[];
  /** What goes wrong; drawn from the seed where it is absent. */
  readonly fates?: readonly Fate[];
  /** From this choice on what waits longest goes first. */
  readonly choices?: number;
}

export interface Deed {
  readonly at: number;
  readonly kind: string;
  readonly number: number;
}

export interface SimulatedNode extends Process {
  readonly id: number;
  cutUntil: number;
  /** Until then its disk is full. */
  fullUntil: number;
  servesSince: number;
  diedAt: number;
  running: Running | undefined;
  /** Its name in the store, which is new at each start. */
  storeId: string;
  /** What it said in its log. */
  readonly log: string[];
}

export interface World {
  readonly plan: Plan;
  readonly machine: Machine;
  readonly nodes: readonly SimulatedNode[];
  /** Straight from the store, past everything that can go wrong. */
  readonly database: Database;
  /** Living nodes that have started. */
  serving(): readonly SimulatedNode[];
  /** Since when there is a node that nothing keeps from its work. */
  healthySince(): number;
  service<Name extends keyof Services>(node: SimulatedNode, name: Name): Services[Name];
  /** What goes wrong at this write or request. */
  meetFate(node: SimulatedNode, label: string): Trouble | undefined;
  /** How often this has gone wrong. */
  hasMet(trouble: Trouble): number;
  /** Whether nothing has gone wrong so far. */
  isUntroubled(): boolean;
  /** For the report. */
  count(what: string, count: number): void;
  crash(node: SimulatedNode): void;
  note(node: SimulatedNode | undefined, what: string): void;
  /** A request over the network, which can go wrong like a write. `take` is what the other side does with it. */
  request<Answer>(node: SimulatedNode, label: string, take: () => Answer): Promise<Answer>;
  violate(rule: string, what: string): void;
  /** What the service that tools post to has taken. */
  readonly posted: string[];
  /** What people had said in each request to the model: the last word of each message. */
  readonly heard: (readonly string[])[];
  /** How many answers the model has given, each for a cent. */
  billed: number;
}

export interface Part {
  /** What it adds to a node. */
  plugins?(world: World, node: SimulatedNode): readonly AnyPlugin[];
  /** Called at the beginning. */
  begin?(world: World): void;
  readonly deeds?: Readonly<Record<string, (world: World, deed: Deed) => void>>;
  /** Called every second of the world. */
  watch?(world: World): Promise<void>;
  /** Whether it waits for something yet. */
  isDone?(world: World): Promise<boolean>;
  check(world: World): Promise<void>;
}

export interface Outcome {
  readonly violations: readonly { readonly rule: string; readonly what: string }[];
  /** Of everything that happened, in its order. */
  readonly hash: string;
  readonly fates: readonly Fate[];
  readonly choices: number;
  readonly steps: number;
  readonly seconds: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly trace: readonly string[];
  readonly logs: readonly string[];
}

/** Then nothing goes wrong any more. */
export const TROUBLE_MS = 100_000;
/** So many that a node is given more places than it asks for, and so few that people come up against it. */
export const CHAT_LIMIT = 6;
/** Everything has come to its end a good while before. */
const END_MS = 600_000;
/** Longer than a world. */
const QUIET_LOOK_MS = 3_600_000;
const RESTART_MS = 20_000;
const MAX_LATENCY_MS = 8000;
const VARIABLES = {
  TOOL_APPROVALS: "post=allow,ask=ask",
  CHAT_TITLES: "false",
  CHAT_RATE_LIMIT: String(CHAT_LIMIT),
  MEMORY_VECTORS: "false",
};
/** So that a node often has to tell another of a job. */
const FEW_HANDS = { JOBS_CONCURRENCY: "1" };

export async function play(
  plan: Plan,
  open: (engine: Sql["engine"], now: () => number) => Promise<Database>,
  partsOf: () => readonly Part[],
  isTraced = false,
): Promise<Outcome> {
  const order = random(plan.seed);
  let choices = 0;
  const chance = random(plan.seed ^ 0x0c10cc);
  const choose = (count: number): number => {
    const draw = order();
    return choices++ < (plan.choices ?? Number.POSITIVE_INFINITY) ? Math.floor(draw * count) : 0;
  };
  const hash = createHash("sha256");
  const machine = createMachine(
    choose,
    chance,
    () => database.isConcurrent === true,
    (process, label) => void hash.update(`${process?.name} ${label} `),
    plan.isQuiet ? QUIET_LOOK_MS : 0,
  );
  const trace: string[] = [];
  const logs: string[] = [];
  const violations: { rule: string; what: string }[] = [];
  const counts: Record<string, number> = {};
  const fates: Fate[] = [];
  const fateOf = plan.fates
    ? repeatFates(plan.fates)
    : drawFates(
        random(plan.seed ^ 0xfa7e),
        random(plan.seed ^ 0xc1a135),
        random(plan.seed ^ 0x3a771),
        plan.isFleet,
        plan.rate,
      );
  const writes = new Map<string, number>();
  const nodes: SimulatedNode[] = [];
  const database = await open(plan.isFleet ? "postgres" : "sqlite", () => machine.wall());
  const signalling = createSignalling(machine);
  const parts = partsOf();

  function note(node: SimulatedNode | undefined, what: string): void {
    const line = `${(machine.now() / 1000).toFixed(3)} ${node?.name ?? "world"}: ${what}`;
    hash.update(line);
    if (isTraced) trace.push(line);
  }

  function start(): void {
    const id = nodes.length + 1;
    const lines: string[] = [];
    const node: SimulatedNode = {
      ...{ name: `node ${id}`, id, machine, isDead: false, stoppedUntil: 0, skew: 0 },
      ...{
        cutUntil: 0,
        fullUntil: 0,
        servesSince: 0,
        diedAt: Number.POSITIVE_INFINITY,
        running: undefined,
        storeId: "",
        log: lines,
      },
    };
    nodes.push(node);
    note(node, "starts");
    world.count("starts", 1);
    world.meetFate(node, "start");
    const mask = createMask();
    const log = createLog("debug", mask, {
      pretty: false,
      write: (line) => {
        if (isTraced) logs.push(`${node.name} ${line.trim()}`);
      },
    });
    const plugins = [
      ...pluginsOf(world, node, database, signalling),
      ...parts.flatMap((part) => part.plugins?.(world, node) ?? []),
    ];
    inside(node, () =>
      boot({
        plugins,
        settings: new Settings({ ...VARIABLES, ...(plan.isQuiet && FEW_HANDS) }, {}, mask.add),
        home: "/nowhere",
        log,
        mask,
        version: "0.0.0",
      }),
    ).then(
      (running) => {
        node.running = running;
        node.servesSince = machine.now();
        note(node, "serves");
      },
      (error: unknown) => {
        note(node, `could not start: ${error}`);
        world.crash(node);
      },
    );
  }

  const world: World = {
    posted: [],
    heard: [],
    billed: 0,
    plan,
    machine,
    nodes,
    database,
    serving: () => nodes.filter((node) => !node.isDead && node.running),
    healthySince: () =>
      Math.min(
        Number.POSITIVE_INFINITY,
        ...world
          .serving()
          .map(({ servesSince, cutUntil, stoppedUntil }) => Math.max(servesSince, cutUntil, stoppedUntil)),
      ),
    service: (node, name) => (node.running as Running).service(name),
    meetFate(node, label) {
      const kind = `${node.name}: ${label}`;
      const count = (writes.get(kind) ?? 0) + 1;
      writes.set(kind, count);
      const fate = fateOf(`${kind} ${count}`);
      if (fate === undefined || machine.now() > TROUBLE_MS) return undefined;
      fates.push(fate);
      const { trouble, millis } = fate;
      world.count(trouble, 1);
      note(node, `${trouble}${millis === 0 ? "" : ` of ${(millis / 1000).toFixed(1)} s`} at: ${label}`);
      if (trouble === "cut connection") node.cutUntil = machine.now() + millis;
      if (trouble === "clock jump") node.skew += millis;
      if (trouble === "long stop") node.stoppedUntil = machine.now() + millis;
      return trouble;
    },
    hasMet: (trouble) => counts[trouble] ?? 0,
    isUntroubled: () => fates.length === 0,
    count(what, count) {
      counts[what] = (counts[what] ?? 0) + count;
    },
    crash(node) {
      machine.kill(node);
      node.diedAt = machine.now();
      note(node, "is dead");
      machine.after(500 + Math.floor(chance() * RESTART_MS), start);
    },
    note,
    request(node, label, take) {
      const { promise, resolve, reject } = Promise.withResolvers<ReturnType<typeof take>>();
      // What is under way arrives also where its sender stands still, and sometimes where that is dead.
      machine.after(1 + Math.floor(chance() ** 4 * MAX_LATENCY_MS), () => {
        if (node.isDead) {
          if (chance() < 0.5) take();
          return;
        }
        const trouble = world.meetFate(node, label);
        if (trouble === "crash before") return world.crash(node);
        const fail = () =>
          machine.wait(node, `failure of ${label}`, () => reject(new Error("the connection broke")));
        if (trouble === "cut connection") return fail();
        const answer = take();
        note(node, label);
        if (trouble === "crash after") return world.crash(node);
        if (trouble === "lost answer") return fail();
        machine.wait(node, `answer to ${label}`, () => resolve(answer));
      });
      return promise;
    },
    violate(rule, what) {
      if (violations.some((one) => one.rule === rule && one.what === what)) return;
      note(undefined, `VIOLATION of "${rule}": ${what}`);
      violations.push({ rule, what });
    },
  };

  const onRejection = (error: unknown) =>
    world.violate("nothing is thrown past its door", String((error as Error)?.stack ?? error));
  process.on("unhandledRejection", onRejection);
  try {
    for (let count = 0; count < plan.nodes; count++) start();
    for (const part of parts) part.begin?.(world);
    for (const deed of plan.deeds) {
      const act = parts.map((part) => part.deeds?.[deed.kind]).find((one) => one !== undefined);
      machine.after(deed.at, () => act?.(world, deed));
    }
    for (let watched = 0; machine.now() < END_MS && violations.length === 0; ) {
      if (!(await machine.step())) break;
      if (machine.now() < watched + 1000) continue;
      watched = machine.now();
      // Before that there are no tables.
      if (!nodes.some(({ running }) => running)) continue;
      for (const part of parts) await part.watch?.(world);
      if (watched < TROUBLE_MS) continue;
      const done = await Promise.all(parts.map((part) => part.isDone?.(world) ?? true));
      if (done.every(Boolean)) break;
    }
    for (const part of parts) await drive(world, part.check(world));
  } finally {
    process.off("unhandledRejection", onRejection);
    for (const node of nodes) machine.kill(node);
    await database.close();
  }
  return {
    ...{ violations, fates, counts, trace, logs, choices },
    hash: hash.digest("hex").slice(0, 16),
    steps: machine.steps(),
    seconds: machine.now() / 1000,
  };
}

/** Lets the world go on until this is done, or cannot be done any more. */
async function drive({ machine, violate }: World, work: Promise<void>): Promise<void> {
  let isOver = false;
  const ended = work.finally(() => {
    isOver = true;
  });
  while (!isOver && machine.now() < 2 * END_MS) await machine.step();
  if (isOver) await ended;
  else violate("nothing acknowledged is lost", "no node answers any more");
}

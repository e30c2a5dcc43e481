/** The store as one node of the world has it: every statement waits for its turn, and any write can go wrong. */
import type { Keyed, Sql, Transaction } from "../../kernel/plugin.ts";
import { Fault } from "../../kernel/plugin.ts";
import { completeStore, type OpenStore } from "../../plugins/store/engine/open-store.ts";
import { createSoleFleet, joinFleet } from "../../plugins/store/fleet/fleet.ts";
import { inside, outside } from "./machine.ts";
import type { Database } from "./memory.ts";
import type { Signalling } from "./signalling.ts";
import type { SimulatedNode, World } from "./world.ts";

const KEY = new Uint8Array(32).fill(7);
const WRITES = /^\s*(?:insert|update|delete|with\b[\s\S]*\b(?:insert|update|delete))\b/i;
/** By what a node says that something is its own to work on. */
const CLAIMS =
  /^\s*(?:with\b[\s\S]*?\b)?update\s+(\w+)\s+set\b(?:(?!\bwhere\b)[\s\S])*\b(?:node|holder) = \?/i;
/** How often an answer is under way for a while. */
const SLOW = 0.3;

export class Away extends Fault {
  constructor() {
    super("unavailable", "store_unavailable", "the database does not answer");
  }
}

class Full extends Fault {
  constructor() {
    super("unavailable", "store_full", "the disk is full");
  }
}

function nodeSql(database: Database, node: SimulatedNode, world: World): Sql {
  const { machine } = world;
  function act<Result>(
    label: string,
    isWrite: boolean,
    work: () => Promise<Result>,
    claimed: ReadonlySet<string>,
  ): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      const answer = (tell: () => void): void => {
        const isSlow = database.engine === "postgres" && machine.chance() < SLOW;
        if (isSlow) machine.wait(node, `answer to ${label}`, tell);
        else tell();
      };
      machine.wait(node, label, async () => {
        if (node.cutUntil > machine.now()) return reject(new Away());
        if (isWrite && node.fullUntil > machine.now()) return reject(new Full());
        const trouble = isWrite ? world.meetFate(node, label) : undefined;
        if (trouble === "crash before") return world.crash(node);
        if (trouble === "cut connection") return reject(new Away());
        let result: Result;
        try {
          result = await work();
        } catch (error) {
          return answer(() => reject(error));
        }
        world.note(node, label);
        if (trouble === "crash after") return world.crash(node);
        if (trouble === "lost answer") return answer(() => reject(new Away()));
        for (const table of claimed) world.meetFate(node, `claim of ${table}`);
        answer(() => resolve(result));
      });
    });
  }
  const query =
    (kind: "all" | "get" | "run") =>
    (text: string, ...values: never[]) => {
      const claimed = new Set<string>();
      const work = () => outside(() => database[kind](text, ...values) as Promise<never>);
      return act(labelOf(text), WRITES.test(text), () => noteClaim(work(), text, claimed), claimed);
    };
  return {
    engine: database.engine,
    all: query("all"),
    get: query("get"),
    run: query("run"),
    transaction(work, options) {
      const written: string[] = [];
      const claimed = new Set<string>();
      const transact = () =>
        outside(() =>
          database.transaction(async (tx) => {
            const result = await inside(node, () => work(noting(tx, written, claimed)));
            if (written.length > 0) world.note(node, `in one transaction: ${written.join(", ")}`);
            return result;
          }, options),
        );
      return act("transaction", true, transact, claimed);
    },
  };
}

/** Adds the table if the statement has claimed something in it. */
async function noteClaim<Result>(
  asked: Promise<Result>,
  text: string,
  claimed: Set<string>,
): Promise<Result> {
  const answer = await asked;
  const [, table] = CLAIMS.exec(text) ?? [];
  const isEmpty = answer === undefined || answer === 0 || (Array.isArray(answer) && answer.length === 0);
  if (table !== undefined && !isEmpty) claimed.add(table);
  return answer;
}

function noting(tx: Transaction, written: string[], claimed: Set<string>): Transaction {
  const note = (text: string) => {
    if (WRITES.test(text)) written.push(labelOf(text));
  };
  const noted =
    (kind: "all" | "get" | "run") =>
    (text: string, ...values: never[]) => {
      note(text);
      const answer = noteClaim(tx[kind](text, ...values) as Promise<never>, text, claimed);
      // One that fails fails its transaction, whether somebody waits for it or not.
      answer.catch(() => {});
      return answer;
    };
  return {
    all: noted("all"),
    get: noted("get"),
    run: noted("run"),
    last(text, ...values) {
      note(text);
      tx.last(text, ...values);
    },
    demand: tx.demand,
  };
}

/** Such as "update jobs". */
function labelOf(text: string): string {
  const [, verb = "", table = ""] =
    /\b(INSERT INTO|(?<!FOR )UPDATE|DELETE FROM)\s+(\w+)/i.exec(text) ??
    /^\s*(SELECT)[\s\S]*?\bFROM\s+(\w+)/i.exec(text) ??
    [];
  return `${verb.split(" ")[0]?.toLowerCase()} ${table}`;
}

const NO_KEYED = () => {
  throw new Error("nothing here keeps keyed state");
};

export async function openNodeStore(
  database: Database,
  signalling: Signalling,
  node: SimulatedNode,
  world: World,
): Promise<OpenStore> {
  const sql = nodeSql(database, node, world);
  const tables: OpenStore["tables"] = (owner, migrations) =>
    new Promise((resolve, reject) => {
      world.machine.wait(node, `tables of ${owner}`, () =>
        outside(() => database.migrate(owner, migrations)).then(() => resolve(sql), reject),
      );
    });
  const signals = signalling.open(node);
  const fleet =
    database.engine === "postgres" ? await joinFleet({ tables, signals }, true) : createSoleFleet();
  node.storeId = fleet.node.id;
  const engine = {
    name: "the simulation's",
    keyed: NO_KEYED as unknown as <Value>() => Keyed<Value>,
    removeKeyed: NO_KEYED,
    tables,
    ...fleet,
    signals,
    probe() {},
    async close() {
      if ("leave" in fleet) await (fleet.leave as () => Promise<void>)().catch(() => {});
    },
  };
  return completeStore(engine, sql, async () => KEY);
}

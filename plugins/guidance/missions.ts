/** Missions: lasting goals of a user, put before the model each turn. Each needs the user's word: no page may set one. */
import { randomUUID } from "node:crypto";
import { type Declared, Time, Type, toWire } from "../../kernel/kit/schema.ts";
import { defineTables } from "../../kernel/kit/store.ts";
import { paramsSchema } from "../../kernel/kit/tools.ts";
import type { Queries, ToolOutcome, Transaction } from "../../kernel/plugin.ts";
import type { OwnTool } from "../agent/services.ts";
import type { Store } from "../store/services.ts";

const Mission = Type.Object({
  id: Type.String(),
  goal: Type.String(),
  /** A turn fails where the last call of one of these did. */
  requiredTools: Type.Array(Type.String()),
  status: Type.Enum(["open", "completed"]),
  createdAt: Time,
  completedAt: Type.Optional(Time),
  /** Only an approved one is put before the model. */
  approved: Type.Boolean(),
});
export type Mission = Declared<typeof Mission>;

interface Missions {
  /** Undefined where there are as many as there may be. */
  create(user: string, goal: string, requiredTools?: readonly string[]): Promise<Mission | undefined>;
  list(user: string, status?: Mission["status"]): Promise<readonly Mission[]>;
  complete(user: string, id: string): Promise<Mission | undefined>;
  give(tx: Transaction, from: string, to: string): Promise<void>;
  /** The section of the prompt, empty where nothing is open, and the tools that open missions require. */
  inForce(user: string): Promise<{ readonly prompt: string; readonly requiredTools: readonly string[] }>;
}

export const MIGRATIONS = defineTables(
  ({ text, integer, serial, strict }) => `
  CREATE TABLE missions (
    seq ${serial},
    id ${text} NOT NULL UNIQUE,
    "user" ${text} NOT NULL,
    goal ${text} NOT NULL,
    created_at ${text} NOT NULL,
    completed_at ${text},
    approved ${integer} NOT NULL DEFAULT 0,
    required_tools ${text} NOT NULL DEFAULT '[]'
  ) ${strict};
  CREATE INDEX missions_by_user ON missions ("user", seq);
  CREATE INDEX missions_open ON missions ("user", seq) WHERE completed_at IS NULL;`,
);

interface Row {
  readonly id: string;
  readonly goal: string;
  readonly created_at: string;
  readonly completed_at: string | null;
  readonly approved: number;
  readonly required_tools: string;
}

/** More goals than this before a model each turn would be noise, and cost. */
const MAX_OPEN = 50;
const MAX_LISTED = 200;
const MAX_GOAL_LENGTH = 1000;
const MAX_REQUIRED = 16;
const HEADING =
  "Missions: the user's long-term goals. Keep them in mind; call mission_complete when one is reached.";

export async function createMissions(
  store: Store,
): Promise<Missions & { readonly tools: readonly OwnTool[] }> {
  const sql = await store.tables("missions", MIGRATIONS);
  const columns = "id, goal, created_at, completed_at, approved, required_tools";

  async function read(on: Queries, user: string, status?: Mission["status"]): Promise<readonly Mission[]> {
    const which = status && `AND completed_at IS ${status === "open" ? "" : "NOT"} NULL`;
    const find = `SELECT ${columns} FROM missions WHERE "user" = ? ${which ?? ""} ORDER BY seq DESC LIMIT ?`;
    const rows = await on.all<Row>(find, user, MAX_LISTED);
    return rows.reverse().map(toMission);
  }

  const missions: Missions = {
    create: (user, goal, requiredTools = []) =>
      sql.transaction(async (tx) => {
        const open = await read(tx, user, "open");
        // One that waits for approval has just got it.
        const waiting = open.find((one) => !one.approved && one.goal === goal);
        if (waiting !== undefined) {
          const approve = 'UPDATE missions SET approved = 1, required_tools = ? WHERE "user" = ? AND id = ?';
          await tx.run(approve, JSON.stringify(requiredTools), user, waiting.id);
          return { ...waiting, requiredTools, approved: true };
        }
        if (open.length >= MAX_OPEN) return undefined;
        const id = `m_${randomUUID().slice(0, 8)}`;
        const createdAt = new Date().toISOString();
        const add = `INSERT INTO missions (id, "user", goal, created_at, approved, required_tools)
          VALUES (?, ?, ?, ?, 1, ?)`;
        await tx.run(add, id, user, goal, createdAt, JSON.stringify(requiredTools));
        return { id, goal, requiredTools, status: "open", createdAt, approved: true };
      }),
    list: (user, status) => read(sql, user, status),
    async complete(user, id) {
      const complete = `UPDATE missions SET completed_at = coalesce(completed_at, ?)
        WHERE "user" = ? AND id = ? RETURNING ${columns}`;
      const row = await sql.get<Row>(complete, new Date().toISOString(), user, id);
      return row && toMission(row);
    },
    async give(tx, from, to) {
      await tx.run('UPDATE missions SET "user" = ? WHERE "user" = ?', to, from);
    },
    // Asked anew each turn: a command beside the service, or another node, may have changed them.
    async inForce(user) {
      const approved = (await read(sql, user, "open")).filter((mission) => mission.approved);
      const lines = approved.map(({ id, goal }) => `- ${id}: ${goal.replace(/\s+/g, " ")}`);
      return {
        prompt: lines.length === 0 ? "" : `${HEADING}\n${lines.join("\n")}`,
        requiredTools: approved.flatMap(({ requiredTools }) => requiredTools),
      };
    },
  };
  return { ...missions, tools: missionTools(missions) };
}

interface NewMission {
  readonly goal: string;
  readonly required_tools?: readonly string[];
}

function missionTools(missions: Missions): OwnTool[] {
  return [
    {
      name: "mission_create",
      effect: "writes",
      words: { did: "began_mission", object: ["{goal}"] },
      description:
        "Sets a long-term goal (a mission) of the user, shown in every conversation. The user is asked first. Also approves an earlier mission, by its exact goal.",
      schema: paramsSchema(
        {
          goal: {
            type: "string",
            minLength: 1,
            maxLength: MAX_GOAL_LENGTH,
            description: "The goal, in one sentence",
          },
          required_tools: {
            type: "array",
            maxItems: MAX_REQUIRED,
            items: { type: "string", minLength: 1, maxLength: 128 },
            description: "Tools whose failure fails a whole turn; only where the user asks for it",
          },
        },
        ["goal"],
      ),
      asks(params) {
        const { goal, required_tools = [] } = params as NewMission;
        const failing = `fails every turn in which the last call of one of these tools failed: ${required_tools.join(", ")}`;
        return [
          `keeps this goal before the model in all your conversations until it is completed: ${goal.trim()}`,
          ...(required_tools.length > 0 ? [failing] : []),
        ];
      },
      async run(params, { user }) {
        const { required_tools, ...given } = params as NewMission;
        const goal = given.goal.trim();
        if (goal === "") return failed("empty_goal", "The goal is empty.");
        const mission = await missions.create(user, goal, required_tools);
        return mission
          ? ok(mission)
          : failed("too_many_missions", `There are ${MAX_OPEN} open missions already: complete one first.`);
      },
    },
    {
      name: "mission_list",
      effect: "reads",
      words: { did: "listed_missions" },
      description: "Lists the user's missions.",
      schema: paramsSchema({ status: { type: "string", enum: ["open", "completed"] } }, []),
      async run(params, { user }) {
        const listed = await missions.list(user, (params as { status?: Mission["status"] }).status);
        const output = JSON.stringify({ missions: listed.map((mission) => toWire(Mission, mission)) });
        return { status: "ok", output };
      },
    },
    {
      name: "mission_complete",
      effect: "writes",
      words: { did: "ended_mission" },
      description: "Marks a mission of the user as completed.",
      schema: paramsSchema(
        { mission: { type: "string", minLength: 1, description: "The mission's id, or its exact goal" } },
        ["mission"],
      ),
      async run(params, { user }) {
        const named = (params as { mission: string }).mission.trim();
        const open = await missions.list(user, "open");
        const byGoal = open.find(({ goal }) => goal.toLowerCase() === named.toLowerCase());
        const mission = await missions.complete(user, byGoal?.id ?? named);
        return mission
          ? ok(mission)
          : failed("no_mission", `There is no mission ${named}. mission_list shows all missions.`);
      },
    },
  ];
}

function toMission({ id, goal, created_at, completed_at, ...row }: Row): Mission {
  const approved = row.approved === 1;
  const requiredTools = JSON.parse(row.required_tools) as string[];
  const known = { id, goal, requiredTools, createdAt: created_at, approved };
  return completed_at === null
    ? { ...known, status: "open" }
    : { ...known, status: "completed", completedAt: completed_at };
}

function ok(mission: Mission): ToolOutcome {
  return { status: "ok", output: JSON.stringify(toWire(Mission, mission)) };
}

function failed(code: string, message: string): ToolOutcome {
  return { status: "error", code, message };
}

/**
 * Missions: lasting goals of a user, put before the model each turn until they are completed. Each needs the user's word: what a
 * page talked a model into must not come back in every later conversation.
 */
import { randomUUID } from "node:crypto";
import type { JsonSchema, Store, ToolOutcome } from "../../../kernel/plugin.ts";
import { toWire } from "../../../kernel/vocabulary/wire/convert.ts";
import type { Declared } from "../../../kernel/vocabulary/wire/form.ts";
import { Time, Type } from "../../../kernel/vocabulary/wire/type.ts";
import type { OwnTool } from "../turn/own-tool.ts";

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

export interface Missions {
  readonly tools: readonly OwnTool[];
  create(user: string, goal: string, requiredTools?: readonly string[]): Mission;
  list(user: string, status?: Mission["status"]): readonly Mission[];
  complete(user: string, id: string): Mission | undefined;
  /** The section of the prompt; empty where nothing is open. */
  prompt(user: string): string;
  /** The tools that open missions require. */
  required(user: string): readonly string[];
}

export const MIGRATIONS = [
  `CREATE TABLE missions (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    user TEXT NOT NULL,
    goal TEXT NOT NULL,
    created_at TEXT NOT NULL,
    completed_at TEXT
  ) STRICT;
  CREATE INDEX missions_by_user ON missions (user, seq);
  CREATE INDEX missions_open ON missions (user, seq) WHERE completed_at IS NULL;`,

  // Until now nobody was asked.
  "ALTER TABLE missions ADD COLUMN approved INTEGER NOT NULL DEFAULT 0;",

  "ALTER TABLE missions ADD COLUMN required_tools TEXT NOT NULL DEFAULT '[]';",
] as const;

interface Row {
  readonly id: string;
  readonly goal: string;
  readonly created_at: string;
  readonly completed_at: string | null;
  readonly approved: number;
  readonly required_tools: string;
}

/** More goals than this before a model each turn would be noise, and cost. */
const MOST_OPEN = 50;
const MOST_LISTED = 200;
const LONGEST_GOAL = 1000;
const MOST_REQUIRED = 16;
const HEADING =
  "Missions: the user's long-term goals. Keep them in mind; call mission_complete when one is reached.";

export function createMissions(store: Store): Missions {
  const sql = store.syncTables("missions", MIGRATIONS);
  const select =
    "SELECT id, goal, created_at, completed_at, approved, required_tools FROM missions WHERE user = ?";

  const inForce = (user: string) => missions.list(user, "open").filter(({ approved }) => approved);

  const missions = {
    create(user: string, goal: string, requiredTools: readonly string[] = []): Mission {
      // One that waits for approval has just got it.
      const waiting = missions.list(user, "open").find((one) => !one.approved && one.goal === goal);
      if (waiting !== undefined) {
        sql.run(
          "UPDATE missions SET approved = 1, required_tools = ? WHERE user = ? AND id = ?",
          JSON.stringify(requiredTools),
          user,
          waiting.id,
        );
        return { ...waiting, requiredTools, approved: true };
      }
      const id = `m_${randomUUID().slice(0, 8)}`;
      const createdAt = new Date().toISOString();
      sql.run(
        "INSERT INTO missions (id, user, goal, created_at, approved, required_tools) VALUES (?, ?, ?, ?, 1, ?)",
        id,
        user,
        goal,
        createdAt,
        JSON.stringify(requiredTools),
      );
      return { id, goal, requiredTools, status: "open", createdAt, approved: true };
    },
    list(user: string, status?: Mission["status"]): readonly Mission[] {
      const which =
        status === undefined
          ? ""
          : status === "open"
            ? " AND completed_at IS NULL"
            : " AND completed_at IS NOT NULL";
      return sql
        .all<Row>(`${select}${which} ORDER BY seq DESC LIMIT ?`, user, MOST_LISTED)
        .reverse()
        .map(toMission);
    },
    complete(user: string, id: string): Mission | undefined {
      sql.run(
        "UPDATE missions SET completed_at = ? WHERE user = ? AND id = ? AND completed_at IS NULL",
        new Date().toISOString(),
        user,
        id,
      );
      const row = sql.get<Row>(`${select} AND id = ?`, user, id);
      return row && toMission(row);
    },
    // Asked anew each turn: a command beside the service may have changed them.
    prompt(user: string): string {
      const lines = inForce(user).map(({ id, goal }) => `- ${id}: ${goal.replace(/\s+/g, " ")}`);
      return lines.length === 0 ? "" : `${HEADING}\n${lines.join("\n")}`;
    },
    required: (user: string) => inForce(user).flatMap(({ requiredTools }) => requiredTools),
  };
  return { ...missions, tools: missionTools(missions) };
}

interface NewMission {
  readonly goal: string;
  readonly required_tools?: readonly string[];
}

function missionTools(missions: Omit<Missions, "tools">): OwnTool[] {
  return [
    {
      name: "mission_create",
      description:
        "Sets a long-term goal (a mission) of the user, shown in every conversation. The user is asked first. Also approves an earlier mission, by its exact goal.",
      schema: object(
        {
          goal: {
            type: "string",
            minLength: 1,
            maxLength: LONGEST_GOAL,
            description: "The goal, in one sentence",
          },
          required_tools: {
            type: "array",
            maxItems: MOST_REQUIRED,
            items: { type: "string", minLength: 1, maxLength: 128 },
            description: "Tools whose failure fails a whole turn; only where the user asks for it",
          },
        },
        ["goal"],
      ),
      asks(params) {
        const { goal, required_tools = [] } = params as NewMission;
        return [
          `keeps this goal before the model in all your conversations until it is completed: ${goal.trim()}`,
          ...(required_tools.length > 0
            ? [
                `fails every turn in which the last call of one of these tools failed: ${required_tools.join(", ")}`,
              ]
            : []),
        ];
      },
      async run(params, { user }) {
        const { required_tools, ...given } = params as NewMission;
        const goal = given.goal.trim();
        if (goal === "") return failed("empty_goal", "The goal is empty.");
        if (missions.list(user, "open").length >= MOST_OPEN)
          return failed(
            "too_many_missions",
            `There are ${MOST_OPEN} open missions already: complete one first.`,
          );
        return ok(missions.create(user, goal, required_tools));
      },
    },
    {
      name: "mission_list",
      description: "Lists the user's missions.",
      schema: object({ status: { type: "string", enum: ["open", "completed"] } }, []),
      async run(params, { user }) {
        const { status } = params as { status?: Mission["status"] };
        return {
          status: "ok",
          output: JSON.stringify({
            missions: missions.list(user, status).map((mission) => toWire(Mission, mission)),
          }),
        };
      },
    },
    {
      name: "mission_complete",
      description: "Marks a mission of the user as completed.",
      schema: object(
        {
          mission: {
            type: "string",
            minLength: 1,
            description: "The mission's id, or its exact goal",
          },
        },
        ["mission"],
      ),
      async run(params, { user }) {
        const named = (params as { mission: string }).mission.trim();
        const byGoal = missions
          .list(user, "open")
          .find(({ goal }) => goal.toLowerCase() === named.toLowerCase());
        const mission = missions.complete(user, byGoal?.id ?? named);
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

function object(properties: object, required: readonly string[]): JsonSchema {
  return { type: "object", properties, required, additionalProperties: false };
}

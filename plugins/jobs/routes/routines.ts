/** Routines: tasks on a schedule. Users see and change their own, an operator all of them. */
import { missingFault, pageFields, pageQuery, type Route, routesOf } from "../../../kernel/kit/http.ts";
import { OPERATOR } from "../../../kernel/kit/people.ts";
import { Type } from "../../../kernel/kit/schema.ts";
import { Fault, type Services, type User } from "../../../kernel/plugin.ts";
import { NewRoutine, Routine, RoutineChange, RoutinePreview, RoutineRun } from "../routine.ts";

const route = routesOf("routines");

const { schedule, tz } = NewRoutine.properties;
const missing = { 404: "There is no such routine" };

export function routineRoutes({
  routines,
  accounts,
}: Pick<Services, "routines" | "accounts">): readonly Route[] {
  const notFound = (id: string) => missingFault("routine_not_found", `There is no routine ${id}.`, "id");
  const find = async (user: User, id: string): Promise<Routine> => {
    const routine = await routines.find(id);
    if (!routine || (user.role !== "operator" && routine.user !== user.id)) throw notFound(id);
    return routine;
  };
  /** Only an operator may name another user. */
  const ownerOf = async (user: User, named: string | undefined): Promise<string> => {
    if (named === undefined || named === user.id) return user.id;
    if (user.role !== "operator")
      throw new Fault("forbidden", "operator_only", "Only an operator can add a routine for another user.");
    if (named !== OPERATOR && (await accounts.find(named)) === undefined)
      throw missingFault("user_not_found", `There is no user ${named}.`, "user");
    return named;
  };
  return [
    route("GET /api/routines", {
      summary: "List routines, newest first; for an operator, those of everybody",
      query: Type.Object({ user: Type.Optional(Type.String({ description: "Only this user's" })) }),
      answer: Type.Object({ routines: Type.Array(Routine) }),
      scoped: true,
      handle: async ({ user, query }) => ({
        routines: await routines.list(user.role === "operator" ? query.user : user.id),
      }),
    }),
    route("POST /api/routines", {
      summary: "Add a routine",
      body: NewRoutine,
      status: 201,
      answer: Routine,
      refusals: { 404: "There is no such user" },
      handle: async ({ user, body }) => await routines.add({ ...body, user: await ownerOf(user, body.user) }),
    }),
    route("GET /api/routines/preview", {
      summary: "Get what a schedule comes to: in words, and its next five firings",
      query: Type.Object({ schedule, tz: Type.Optional(tz) }),
      answer: RoutinePreview,
      scoped: true,
      handle: ({ query }) => routines.preview(query.schedule, query.tz),
    }),
    route("GET /api/routines/{id}", {
      summary: "Get a routine",
      answer: Routine,
      refusals: missing,
      scoped: true,
      handle: ({ user, params }) => find(user, params.id),
    }),
    route("PATCH /api/routines/{id}", {
      summary: "Change a routine, pause it, or let it go on; null takes a budget or a delivery away",
      body: RoutineChange,
      answer: Routine,
      refusals: missing,
      async handle({ user, params, body }) {
        await find(user, params.id);
        const changed = await routines.change(params.id, body);
        if (!changed) throw notFound(params.id);
        return changed;
      },
    }),
    route("DELETE /api/routines/{id}", {
      summary: "Remove a routine and its history; what runs is stopped, and its thread stays",
      status: 204,
      refusals: missing,
      async handle({ user, params }) {
        await routines.remove((await find(user, params.id)).id);
      },
    }),
    route("POST /api/routines/{id}/run", {
      summary: "Run a routine now, beside its schedule",
      status: 202,
      answer: RoutineRun,
      refusals: { ...missing, 400: "It is running already, or its budget for today is spent" },
      async handle({ user, params }) {
        const { id } = await find(user, params.id);
        const run = await routines.run(id);
        if (!run) throw notFound(id);
        return run;
      },
    }),
    route("GET /api/routines/{id}/runs", {
      summary: "List the runs of a routine, newest first",
      query: Type.Object(pageQuery),
      answer: Type.Object(pageFields("runs", RoutineRun)),
      refusals: missing,
      scoped: true,
      handle: async ({ user, params, query }) => await routines.runs((await find(user, params.id)).id, query),
    }),
  ];
}

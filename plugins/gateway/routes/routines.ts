/** Routines: tasks on a schedule. Users see and change their own, an operator all of them. */
import { OPERATOR, Routine, RoutineFields, RoutinePreview, RoutineRun, Type } from "../../../kernel/kit.ts";
import { Fault, type Routines, type Services, type User } from "../../../kernel/plugin.ts";
import { page, pageQuery } from "../api/schemas.ts";
import { type Route, route } from "../route.ts";

const { schedule, text, tz, budget, timeoutSecs, deliver } = RoutineFields;
const orNull = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) =>
  Type.Optional(Type.Union([schema, Type.Null()]));
const missing = { 404: "There is no such routine" };

export function routineRoutes(
  routines: Routines,
  accounts: Pick<Services["accounts"], "find">,
): readonly Route[] {
  const notFound = (id: string | undefined): Fault =>
    new Fault("missing", "routine_not_found", `There is no routine ${id}.`, { param: "id" });
  const find = async (user: User, id = ""): Promise<Routine> => {
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
      throw new Fault("missing", "user_not_found", `There is no user ${named}.`, { param: "user" });
    return named;
  };
  return [
    route({
      method: "get",
      path: "/api/routines",
      tag: "routines",
      summary: "List routines, newest first; for an operator, those of everybody",
      query: Type.Object({ user: Type.Optional(Type.String({ description: "Only this user's" })) }),
      answer: Type.Object({ routines: Type.Array(Routine) }),
      handle: async ({ user, query }) => ({
        routines: await routines.list(user.role === "operator" ? query.user : user.id),
      }),
    }),
    route({
      method: "post",
      path: "/api/routines",
      tag: "routines",
      summary: "Add a routine",
      body: Type.Object({
        schedule,
        text,
        tz: Type.Optional(tz),
        budget: Type.Optional(budget),
        timeoutSecs: Type.Optional(timeoutSecs),
        deliver: Type.Optional(deliver),
        user: Type.Optional(Type.String({ description: "Whose it is; only an operator may name another" })),
      }),
      status: 201,
      answer: Routine,
      refusals: { 404: "There is no such user" },
      handle: async ({ user, body }) => await routines.add({ ...body, user: await ownerOf(user, body.user) }),
    }),
    route({
      method: "get",
      path: "/api/routines/preview",
      tag: "routines",
      summary: "Get what a schedule comes to: in words, and its next five firings",
      query: Type.Object({ schedule, tz: Type.Optional(tz) }),
      answer: RoutinePreview,
      handle: ({ query }) => routines.preview(query.schedule, query.tz),
    }),
    route({
      method: "get",
      path: "/api/routines/{id}",
      tag: "routines",
      summary: "Get a routine",
      answer: Routine,
      refusals: missing,
      handle: ({ user, params }) => find(user, params["id"]),
    }),
    route({
      method: "patch",
      path: "/api/routines/{id}",
      tag: "routines",
      summary: "Change a routine, pause it, or let it go on; null takes a budget or a delivery away",
      body: Type.Object({
        schedule: Type.Optional(schedule),
        text: Type.Optional(text),
        tz: Type.Optional(tz),
        budget: orNull(budget),
        timeoutSecs: Type.Optional(timeoutSecs),
        deliver: orNull(deliver),
        paused: Type.Optional(Type.Boolean()),
      }),
      answer: Routine,
      refusals: missing,
      async handle({ user, params, body }) {
        const { id } = await find(user, params["id"]);
        const changed = await routines.change(id, body);
        if (!changed) throw notFound(id);
        return changed;
      },
    }),
    route({
      method: "delete",
      path: "/api/routines/{id}",
      tag: "routines",
      summary: "Remove a routine and its history; what runs is stopped, and its thread stays",
      status: 204,
      refusals: missing,
      async handle({ user, params }) {
        await routines.remove((await find(user, params["id"])).id);
      },
    }),
    route({
      method: "post",
      path: "/api/routines/{id}/run",
      tag: "routines",
      summary: "Run a routine now, beside its schedule",
      status: 202,
      answer: RoutineRun,
      refusals: { ...missing, 400: "It is running already, or its budget for today is spent" },
      async handle({ user, params }) {
        const { id } = await find(user, params["id"]);
        const run = await routines.run(id);
        if (!run) throw notFound(id);
        return run;
      },
    }),
    route({
      method: "get",
      path: "/api/routines/{id}/runs",
      tag: "routines",
      summary: "List the runs of a routine, newest first",
      query: Type.Object(pageQuery),
      answer: page("runs", RoutineRun),
      refusals: missing,
      handle: async ({ user, params, query }) =>
        await routines.runs((await find(user, params["id"])).id, query),
    }),
  ];
}

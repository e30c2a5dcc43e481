/** What callers send of a routine. */

import { maybe, Type } from "../../../kernel/kit/schema.ts";
import { RoutineFields } from "../routine.ts";

export const NewRoutine = Type.Object({
  schedule: RoutineFields.schedule,
  text: RoutineFields.text,
  tz: Type.Optional(RoutineFields.tz),
  budget: Type.Optional(RoutineFields.budget),
  timeoutSecs: Type.Optional(RoutineFields.timeoutSecs),
  deliver: Type.Optional(RoutineFields.deliver),
  user: Type.Optional(Type.String({ description: "Whose it is; only an operator may name another" })),
});

export const RoutineChange = Type.Object({
  schedule: Type.Optional(RoutineFields.schedule),
  text: Type.Optional(RoutineFields.text),
  tz: Type.Optional(RoutineFields.tz),
  budget: maybe(RoutineFields.budget),
  timeoutSecs: Type.Optional(RoutineFields.timeoutSecs),
  deliver: maybe(RoutineFields.deliver),
  paused: Type.Optional(Type.Boolean()),
});

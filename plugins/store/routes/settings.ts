/** Settings that an operator can change while the service runs. */
import { type Route, routesOf } from "../../../kernel/kit/http.ts";
import { Type } from "../../../kernel/kit/schema.ts";
import type { Services } from "../../../kernel/plugin.ts";
import { ChangeableSetting } from "../wire.ts";

const operatorRoute = routesOf("settings", "operator");

const Values = Type.Record(Type.String(), Type.Union([Type.String(), Type.Null()]), {
  description: "Values by name; null goes back to the default",
});
const Listed = Type.Object({ settings: Type.Array(ChangeableSetting) });
const refusals = { 400: "A value cannot be set, and nothing was: `problems` has every reason" };

export function settingRoutes({ settings }: Pick<Services, "settings">): readonly Route[] {
  const list = async () => ({ settings: await settings.list() });
  return [
    operatorRoute("GET /api/settings", {
      summary: "List the settings that can be changed while the service runs, without secrets",
      answer: Listed,
      handle: list,
    }),
    operatorRoute("PATCH /api/settings", {
      summary: "Change settings on every node, from the next turn on: all that are given, or none",
      body: Type.Object({ settings: Values }),
      answer: Listed,
      refusals,
      async handle({ user, body }) {
        await settings.change(body.settings, user.id);
        return list();
      },
    }),
  ];
}

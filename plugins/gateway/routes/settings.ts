/** Settings that an operator can change while the service runs. */
import { applyLimit, type Route, routesOf } from "../../../kernel/kit/http.ts";
import { Type } from "../../../kernel/kit/schema.ts";
import { Fault } from "../../../kernel/plugin.ts";
import { ChangeableSetting, LocalServer, ModelTest } from "../api/schemas.ts";
import type { RouteParts } from "../route.ts";

const operatorRoute = routesOf("settings", "operator");

const Values = Type.Record(Type.String(), Type.Union([Type.String(), Type.Null()]), {
  description: "Values by name; null goes back to the default",
});
const Listed = Type.Object({ settings: Type.Array(ChangeableSetting) });
const refusals = { 400: "A value cannot be set, and nothing was: `problems` has every reason" };

export function settingRoutes({ settings, modelCheck, testLimit }: RouteParts): readonly Route[] {
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
    operatorRoute("GET /api/settings/local-servers", {
      summary: "Look for model servers on this machine: Ollama, LM Studio, llama.cpp, vLLM, Jan",
      answer: Type.Object({ servers: Type.Array(LocalServer) }),
      handle: async () => ({ servers: [...((await modelCheck?.findLocal()) ?? [])] }),
    }),
    operatorRoute("POST /api/settings/test-model", {
      summary:
        "Try the model with one tiny request, with settings as they are or with values that are not stored",
      body: Type.Object({ settings: Type.Optional(Values) }),
      answer: ModelTest,
      refusals: { ...refusals, 429: "Too many tests in a minute" },
      async handle({ user, body, context }) {
        if (modelCheck === undefined)
          throw new Fault("unavailable", "no_model_check", "The agent that runs here cannot test its model.");
        applyLimit(await testLimit.take(user.id), context);
        return modelCheck.test(body.settings ?? {});
      },
    }),
  ];
}

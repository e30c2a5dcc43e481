/** For operators: a test of a model, and the model servers of this machine. */
import { applyLimit, type Route, routesOf } from "../../../kernel/kit/http.ts";
import { Type } from "../../../kernel/kit/schema.ts";
import { Fault, type Limiter, type Services } from "../../../kernel/plugin.ts";
import { LocalServer, ModelTest } from "./wire.ts";

const operatorRoute = routesOf("settings", "operator");

const Values = Type.Record(Type.String(), Type.Union([Type.String(), Type.Null()]), {
  description: "Values by name; null goes back to the default",
});

/** Each test costs a request to the model. */
export const MODEL_TESTS = { limit: 10, seconds: 60 };

export function modelTestRoutes(
  modelCheck: Services["modelCheck"] | undefined,
  testLimit: Limiter,
): readonly Route[] {
  return [
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
      refusals: {
        400: "A value cannot be set, and nothing was: `problems` has every reason",
        429: "Too many tests in a minute",
      },
      async handle({ user, body, context }) {
        if (modelCheck === undefined)
          throw new Fault("unavailable", "no_model_check", "The agent that runs here cannot test its model.");
        applyLimit(await testLimit.take(user.id), context);
        return modelCheck.test(body.settings ?? {});
      },
    }),
  ];
}

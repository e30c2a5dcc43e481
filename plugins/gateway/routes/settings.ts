/** Settings that an operator can change while the service runs. */
import { applyLimit, ChangeableSetting, ModelTest, type StoredSettings, Type } from "../../../kernel/kit.ts";
import { Fault, type Limiter, type Services } from "../../../kernel/plugin.ts";
import { type Route, route } from "../route.ts";

export interface SettingParts {
  readonly settings: StoredSettings;
  readonly modelCheck: Services["modelCheck"] | undefined;
  /** Each test costs a request to the model. */
  readonly testLimit: Limiter;
}

const Values = Type.Record(Type.String(), Type.Union([Type.String(), Type.Null()]), {
  description: "Values by name; null goes back to the default",
});
const Listed = Type.Object({ settings: Type.Array(ChangeableSetting) });
const refusals = { 400: "A value cannot be set, and nothing was: `problems` has every reason" };

export function settingRoutes({ settings, modelCheck, testLimit }: SettingParts): readonly Route[] {
  const list = async () => ({ settings: await settings.list() });
  return [
    route({
      method: "get",
      path: "/api/settings",
      tag: "settings",
      summary: "List the settings that can be changed while the service runs, without secrets",
      audience: "operator",
      answer: Listed,
      handle: list,
    }),
    route({
      method: "patch",
      path: "/api/settings",
      tag: "settings",
      summary: "Change settings on every node, from the next turn on: all that are given, or none",
      audience: "operator",
      body: Type.Object({ settings: Values }),
      answer: Listed,
      refusals,
      async handle({ user, body }) {
        await settings.change(body.settings, user.id);
        return list();
      },
    }),
    route({
      method: "post",
      path: "/api/settings/test-model",
      tag: "settings",
      summary:
        "Try the model with one tiny request, with settings as they are or with values that are not stored",
      audience: "operator",
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

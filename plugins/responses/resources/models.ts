/** The models a request may name. The name is a hint: settings choose the model. */
import type { Context } from "koa";
import { type Declared, Type } from "../../../kernel/kit.ts";
import { Fault, type Services } from "../../../kernel/plugin.ts";
import { PLACEHOLDER_MODEL } from "../answer/response.ts";
import type { Endpoint } from "../endpoint.ts";

const Model = Type.Object({
  id: Type.String(),
  object: Type.Literal("model"),
  created: Type.Integer({ description: "Seconds since 1970" }),
  owned_by: Type.String(),
});
type Model = Declared<typeof Model>;

const ModelList = Type.Object({ object: Type.Literal("list"), data: Type.Array(Model) });

export interface ModelParts {
  readonly agent: Services["agent"];
  readonly startedAt: Date;
}

export function modelList(parts: ModelParts): Endpoint {
  return {
    method: "get",
    path: "/models",
    summary: "List the models a request may name",
    answer: ModelList,
    handle(context: Context) {
      const list: Declared<typeof ModelList> = { object: "list", data: [...modelsOf(parts)] };
      context.body = list;
    },
  };
}

export function modelById(parts: ModelParts): Endpoint {
  return {
    method: "get",
    path: "/models/{id}",
    summary: "Get one of the models that `GET /models` lists",
    answer: Model,
    refusals: { 404: "There is no such model" },
    handle(context: Context) {
      const id = String(context["params"].id);
      const model = modelsOf(parts).find((known) => known.id === id);
      if (model === undefined)
        throw new Fault("missing", "model_not_found", "There is no model with this id.", { param: "model" });
      context.body = model;
    },
  };
}

function modelsOf({ agent, startedAt }: ModelParts): readonly Model[] {
  const created = Math.floor(startedAt.getTime() / 1000);
  const ids = new Set([PLACEHOLDER_MODEL, agent.model().name]);
  return [...ids].map((id) => ({ id, object: "model", created, owned_by: "postern" }));
}

/** The models that a request may name. The name has no effect: settings choose the model. */
import { type Declared, Type } from "../../../kernel/kit.ts";
import { Fault } from "../../../kernel/plugin.ts";
import { PLACEHOLDER_MODEL } from "../answer/response.ts";
import { type Endpoint, type EndpointParts, endpoint } from "./endpoint.ts";

const Model = Type.Object({
  id: Type.String(),
  object: Type.Literal("model"),
  created: Type.Integer({ description: "Seconds since 1970" }),
  owned_by: Type.String(),
});

const ModelList = Type.Object({ object: Type.Literal("list"), data: Type.Array(Model) });

type ModelParts = Pick<EndpointParts, "agent" | "startedAt">;

export const modelList = (parts: ModelParts): Endpoint =>
  endpoint({
    method: "get",
    path: "/models",
    summary: "List the models a request may name",
    answer: ModelList,
    handle: () => ({ object: "list" as const, data: modelsOf(parts) }),
  });

export const modelById = (parts: ModelParts): Endpoint =>
  endpoint({
    method: "get",
    path: "/models/{id}",
    summary: "Get one of the models that `GET /models` lists",
    answer: Model,
    refusals: { 404: "There is no such model" },
    handle({ params }) {
      const model = modelsOf(parts).find(({ id }) => id === params["id"]);
      if (model) return model;
      throw new Fault("missing", "model_not_found", "There is no model with this id.", { param: "model" });
    },
  });

function modelsOf({ agent, startedAt }: ModelParts): readonly Declared<typeof Model>[] {
  const created = Math.floor(startedAt.getTime() / 1000);
  const ids = new Set([PLACEHOLDER_MODEL, agent.model().name]);
  return [...ids].map((id) => ({ id, object: "model", created, owned_by: "postern" }));
}

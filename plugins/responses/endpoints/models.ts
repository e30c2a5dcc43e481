/** The models that a request may name. The name has no effect: settings choose the model. */
import { type Declared, Type } from "../../../kernel/kit/schema.ts";
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

export function modelEndpoints({ agent, kernel }: EndpointParts): readonly [Endpoint, Endpoint] {
  function models(): readonly Declared<typeof Model>[] {
    const created = Math.floor(kernel.startedAt.getTime() / 1000);
    const ids = new Set([PLACEHOLDER_MODEL, agent.model().name]);
    return [...ids].map((id) => ({ id, object: "model", created, owned_by: "postern" }));
  }
  return [
    endpoint("get", "/models", {
      summary: "List the models a request may name",
      answer: ModelList,
      handle: () => ({ object: "list" as const, data: models() }),
    }),
    endpoint("get", "/models/{id}", {
      summary: "Get one of the models that `GET /models` lists",
      answer: Model,
      refusals: { 404: "There is no such model" },
      handle({ params }) {
        const model = models().find(({ id }) => id === params["id"]);
        if (model) return model;
        throw new Fault("missing", "model_not_found", "There is no model with this id.", { param: "model" });
      },
    }),
  ];
}

/** For operators: the integrations of the webhook channel. */
import { missingFault, orRefuse, type Route, routesOf } from "../../../kernel/kit/http.ts";
import { Type } from "../../../kernel/kit/schema.ts";
import type { Services } from "../../../kernel/plugin.ts";
import { Integration } from "../integration.ts";

const operatorRoute = routesOf("webhooks", "operator");

const { name, user } = Integration.properties;
const off = { 503: "The webhook channel is off" };

export function integrationRoutes(parts: Partial<Pick<Services, "integrations">>): readonly Route[] {
  const integrations = orRefuse(
    parts.integrations,
    "webhook_off",
    "The webhook channel is off: set HTTP_ENABLED=true, or use postern webhook.",
  );
  return [
    operatorRoute("GET /api/webhooks", {
      summary: "List the integrations of the webhook channel, without their secrets",
      answer: Type.Object({ integrations: Type.Array(Integration) }),
      refusals: off,
      handle: async () => ({ integrations: await integrations().list() }),
    }),
    operatorRoute("POST /api/webhooks", {
      summary: "Add an integration: a sender with a secret of its own, which is shown only here",
      body: Type.Object({ name, user, message: Type.Optional(Type.String()) }),
      status: 201,
      answer: Type.Object({ ...Integration.properties, secret: Type.String() }),
      refusals: { ...off, 404: "There is no such user" },
      async handle({ body }) {
        const { integration, secret } = await integrations().add(body);
        return { ...integration, secret };
      },
    }),
    operatorRoute("DELETE /api/webhooks/{name}", {
      summary: "Remove an integration: its secret opens nothing any more",
      status: 204,
      refusals: { ...off, 404: "There is no such integration" },
      async handle({ params }) {
        if (await integrations().remove(params.name)) return;
        throw missingFault("integration_not_found", "There is no such integration.", "name");
      },
    }),
  ];
}

/** For operators: the integrations of the webhook channel, and the accounts of its identities. */
import { missingFault, orRefuse, type Route, routesOf } from "../../../kernel/kit/http.ts";
import { Integration } from "../../../kernel/kit/jobs.ts";
import { Identity } from "../../../kernel/kit/people.ts";
import { Type } from "../../../kernel/kit/schema.ts";
import type { RouteParts } from "../route.ts";

const operatorRoute = routesOf("webhooks", "operator");

const { id } = Identity.properties;
const { name, user } = Integration.properties;
const off = { 503: "The webhook channel is off" };

export function webhookRoutes(parts: RouteParts): readonly Route[] {
  return [...identityRoutes(parts), ...integrationRoutes(parts)];
}

function integrationRoutes(parts: RouteParts): readonly Route[] {
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

function identityRoutes({ identities }: RouteParts): readonly Route[] {
  const operatorRoute = routesOf("accounts", "operator");
  return [
    operatorRoute("GET /api/identities", {
      summary: "List the identities of channels and the accounts they are paired with",
      answer: Type.Object({ identities: Type.Array(Identity) }),
      handle: async () => ({ identities: await identities.list() }),
    }),
    operatorRoute("POST /api/identities/pair", {
      summary:
        "Pair an identity with an account, which answers its pairing gate: threads and memory move there, and messages that wait are run",
      body: Type.Object({ identity: id, account: Type.String() }),
      status: 204,
      refusals: { 404: "There is no such account" },
      async handle({ body: { identity, account } }) {
        await identities.pair(identity, account);
      },
    }),
    operatorRoute("POST /api/identities/unpair", {
      summary: "Let an identity speak for itself again; what moved to the account stays there",
      body: Type.Object({ identity: id }),
      status: 204,
      refusals: { 404: "It is not paired" },
      async handle({ body: { identity } }) {
        if (await identities.unpair(identity)) return;
        throw missingFault("not_paired", `${identity} is not paired with an account.`, "identity");
      },
    }),
    operatorRoute("POST /api/identities/deny", {
      summary: "Refuse the messages of an identity that wait for a pairing",
      body: Type.Object({ identity: id }),
      status: 204,
      refusals: { 404: "No message of it waits" },
      async handle({ body: { identity } }) {
        if ((await identities.deny(identity)) > 0) return;
        throw missingFault("gate_not_found", `No message of ${identity} waits for a pairing.`, "identity");
      },
    }),
  ];
}

/** For operators: the integrations of the webhook channel, and the accounts of its identities. */
import { Identity, Integration, type Integrations, Type } from "../../../kernel/kit.ts";
import { Fault, type Services } from "../../../kernel/plugin.ts";
import { type Route, route } from "../route.ts";

const { id } = Identity.properties;
const { name, user } = Integration.properties;
const off = { 503: "The webhook channel is off" };

export interface WebhookParts {
  readonly accounts: Services["accounts"];
  readonly identities: Services["identities"];
  /** Undefined if the webhook channel is off. */
  readonly integrations: Integrations | undefined;
}

export function webhookRoutes(parts: WebhookParts): readonly Route[] {
  return [...identityRoutes(parts), ...integrationRoutes(parts.integrations)];
}

function integrationRoutes(given: Integrations | undefined): readonly Route[] {
  const integrations = (): Integrations => {
    if (given) return given;
    throw new Fault(
      "unavailable",
      "webhook_off",
      "The webhook channel is off: set HTTP_ENABLED=true, or use postern webhook.",
    );
  };
  return [
    route({
      method: "get",
      path: "/api/webhooks",
      tag: "webhooks",
      summary: "List the integrations of the webhook channel, without their secrets",
      audience: "operator",
      answer: Type.Object({ integrations: Type.Array(Integration) }),
      refusals: off,
      handle: async () => ({ integrations: await integrations().list() }),
    }),
    route({
      method: "post",
      path: "/api/webhooks",
      tag: "webhooks",
      summary: "Add an integration: a sender with a secret of its own, which is shown only here",
      audience: "operator",
      body: Type.Object({ name, user, message: Type.Optional(Type.String()) }),
      status: 201,
      answer: Type.Object({ ...Integration.properties, secret: Type.String() }),
      refusals: { ...off, 404: "There is no such user" },
      async handle({ body }) {
        const { integration, secret } = await integrations().add(body);
        return { ...integration, secret };
      },
    }),
    route({
      method: "delete",
      path: "/api/webhooks/{name}",
      tag: "webhooks",
      summary: "Remove an integration: its secret opens nothing any more",
      audience: "operator",
      status: 204,
      refusals: { ...off, 404: "There is no such integration" },
      async handle({ params }) {
        if (await integrations().remove(params["name"] ?? "")) return;
        throw new Fault("missing", "integration_not_found", "There is no such integration.", {
          param: "name",
        });
      },
    }),
  ];
}

function identityRoutes({ accounts, identities }: WebhookParts): readonly Route[] {
  return [
    route({
      method: "get",
      path: "/api/identities",
      tag: "accounts",
      summary: "List webhook identities and the accounts they are paired with",
      audience: "operator",
      answer: Type.Object({ identities: Type.Array(Identity) }),
      handle: async () => ({ identities: await identities.list() }),
    }),
    route({
      method: "post",
      path: "/api/identities/pair",
      tag: "accounts",
      summary:
        "Pair a webhook identity with an account, which answers its pairing gate: threads and memory move there, and messages that wait are run",
      audience: "operator",
      body: Type.Object({ identity: id, account: Type.String() }),
      status: 204,
      refusals: { 404: "There is no such account" },
      async handle({ body: { identity, account } }) {
        await identities.pair(identity, await accounts.mustFind(account));
      },
    }),
    route({
      method: "post",
      path: "/api/identities/unpair",
      tag: "accounts",
      summary: "Let a webhook identity speak for itself again; what moved to the account stays there",
      audience: "operator",
      body: Type.Object({ identity: id }),
      status: 204,
      refusals: { 404: "It is not paired" },
      async handle({ body: { identity } }) {
        if (await identities.unpair(identity)) return;
        throw new Fault("missing", "not_paired", `${identity} is not paired with an account.`, {
          param: "identity",
        });
      },
    }),
    route({
      method: "post",
      path: "/api/identities/deny",
      tag: "accounts",
      summary: "Refuse the messages of a webhook identity that wait for a pairing",
      audience: "operator",
      body: Type.Object({ identity: id }),
      status: 204,
      refusals: { 404: "No message of it waits" },
      async handle({ body: { identity } }) {
        if ((await identities.deny(identity)) > 0) return;
        throw new Fault("missing", "gate_not_found", `No message of ${identity} waits for a pairing.`, {
          param: "identity",
        });
      },
    }),
  ];
}

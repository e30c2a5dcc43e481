/** For operators: the identities of channels, and the accounts they are paired with. */
import { missingFault, type Route, routesOf } from "../../../kernel/kit/http.ts";
import { Identity } from "../../../kernel/kit/people.ts";
import { Type } from "../../../kernel/kit/schema.ts";
import type { Services } from "../../../kernel/plugin.ts";

const operatorRoute = routesOf("accounts", "operator");

const { id } = Identity.properties;

export function identityRoutes({ identities }: Pick<Services, "identities">): readonly Route[] {
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

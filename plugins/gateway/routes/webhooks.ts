/** Webhook identities, and which account each is: the operator says so. */
import { Fault, type Identities } from "../../../kernel/plugin.ts";
import { Identity } from "../../../kernel/vocabulary/user.ts";
import { Type } from "../../../kernel/vocabulary/wire/type.ts";
import type { Accounts } from "../auth/accounts.ts";
import { accountOf, unpair } from "../auth/pairing.ts";
import { type Route, route } from "../route.ts";

const { id } = Identity.properties;

export interface IdentityParts {
  readonly accounts: Accounts;
  readonly identities: Identities;
}

export function identityRoutes({ accounts, identities }: IdentityParts): readonly Route[] {
  return [
    route({
      method: "get",
      path: "/api/identities",
      tag: "accounts",
      summary: "List webhook identities and the accounts they are paired with",
      audience: "operator",
      answer: Type.Object({ identities: Type.Array(Identity) }),
      handle: () => ({ identities: identities.list() }),
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
      handle({ body: { identity, account } }) {
        identities.pair(identity, accountOf(accounts, account));
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
      handle: ({ body: { identity } }) => unpair(identities, identity),
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
      handle({ body: { identity } }) {
        if (identities.deny(identity) > 0) return;
        throw new Fault("missing", "gate_not_found", `No message of ${identity} waits for a pairing.`, {
          param: "identity",
        });
      },
    }),
  ];
}

/** Destinations that calls may go to although somebody else named them. A user has their own; an operator also keeps those for everybody. */

import { missingFault, orRefuse, type Route, routesOf } from "../../../kernel/kit/http.ts";
import { Type } from "../../../kernel/kit/schema.ts";
import { Fault, type Services } from "../../../kernel/plugin.ts";
import { TrustedDestination } from "../wire.ts";

const route = routesOf("approvals");

const { value } = TrustedDestination.properties;
const tool = Type.Optional(
  Type.String({
    description: "Set if it is for this tool only",
    pattern: "^[A-Za-z0-9_-]{1,128}$",
    refusal: "must be the name of a tool: letters, digits, - and _",
  }),
);

export function destinationRoutes(parts: Partial<Pick<Services, "destinations">>): readonly Route[] {
  const destinations = orRefuse(
    parts.destinations,
    "service_off",
    "Destinations are not available: PROVENANCE is off.",
  );
  return [
    route("GET /api/destinations", {
      summary:
        "List the destinations you trust, and those that the operator trusts for everybody (without `user`)",
      answer: Type.Object({ destinations: Type.Array(TrustedDestination) }),
      scoped: true,
      handle: async ({ user }) => ({ destinations: await destinations().list(user.id) }),
    }),
    route("POST /api/destinations/remove", {
      summary:
        "Stop trusting a destination, so that calls to it ask again; an operator also one for everybody",
      body: Type.Object({
        value,
        tool,
        forAll: Type.Optional(Type.Boolean({ description: "One that is for everybody: operators only" })),
      }),
      status: 204,
      refusals: {
        403: "The token has a scope, or the destination is for everybody and you are not an operator",
        404: "This destination is not trusted",
      },
      async handle({ user, body: { forAll = false, ...one } }) {
        if (forAll && user.role !== "operator") {
          const message = "Only an operator can remove a destination that is trusted for everybody.";
          throw new Fault("forbidden", "operator_only", message);
        }
        if (await destinations().remove({ ...one, user: forAll ? undefined : user.id })) return;
        throw missingFault("destination_not_found", "This destination is not trusted.", "value");
      },
    }),
  ];
}

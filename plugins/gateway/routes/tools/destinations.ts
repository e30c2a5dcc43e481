/** Where calls may go although somebody else named it. A user has their own; an operator also keeps those for everybody. */

import { named, TrustedDestination, Type } from "../../../../kernel/kit.ts";
import { Fault, type Services } from "../../../../kernel/plugin.ts";
import { type Route, route } from "../../route.ts";

const { value } = TrustedDestination.properties;
const tool = Type.Optional(
  Type.String({
    description: "Where it is for this tool only",
    pattern: "^[A-Za-z0-9_-]{1,128}$",
    refusal: "must be the name of a tool: letters, digits, - and _",
  }),
);

export function destinationRoutes(provided: Services["destinations"] | undefined): readonly Route[] {
  const destinations = (): Services["destinations"] => {
    if (provided) return provided;
    throw new Fault("unavailable", "service_off", "Destinations are not available: PROVENANCE is off.");
  };

  return [
    route({
      method: "get",
      path: "/api/destinations",
      tag: "approvals",
      summary:
        "List the destinations you trust, and those that the operator trusts for everybody (without `user`)",
      answer: Type.Object({ destinations: Type.Array(TrustedDestination) }),
      handle: async ({ user }) => ({ destinations: await destinations().list(user.id) }),
    }),
    route({
      method: "post",
      path: "/api/destinations/remove",
      tag: "approvals",
      summary:
        "Stop trusting a destination, so that calls to it ask again; an operator also one for everybody",
      body: Type.Object({
        value,
        tool,
        forAll: Type.Optional(
          named("for_all", Type.Boolean({ description: "One that is for everybody: operators only" })),
        ),
      }),
      status: 204,
      refusals: {
        403: "The token has a scope, or the destination is for everybody and you are not an operator",
        404: "This destination is not trusted",
      },
      async handle({ user, body: { forAll = false, ...one } }) {
        if (forAll && user.role !== "operator")
          throw new Fault(
            "forbidden",
            "operator_only",
            "Only an operator can remove a destination that is trusted for everybody.",
          );
        if (await destinations().remove({ ...one, ...(!forAll && { user: user.id }) })) return;
        throw new Fault("missing", "destination_not_found", "This destination is not trusted.", {
          param: "value",
        });
      },
    }),
  ];
}

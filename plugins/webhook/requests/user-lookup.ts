/** Finds the user of a message: an account, or an identity of the webhook's own. */
import { Fault, type Services } from "../../../kernel/plugin.ts";
import type { NewJob } from "../../jobs/services.ts";
import type { Sender } from "../integrations/integrations.ts";

type Owner = Pick<NewJob, "user" | "waitsForPairing">;

export type UserLookup = ReturnType<typeof createUserLookup>;

export interface UserLookupParts {
  readonly identities: Services["identities"];
  readonly accounts: Pick<Services["accounts"], "find">;
  /** True if an identity that is not paired has to wait. */
  readonly isRequired: boolean;
}

export function createUserLookup({ identities, accounts, isRequired }: UserLookupParts) {
  return {
    /** Returns the account that an operator paired the identity with, or the identity itself. */
    async named(identity: string): Promise<Owner> {
      const account = await identities.account(identity);
      if (account !== undefined) return { user: account };
      return { user: identity, waitsForPairing: isRequired || undefined };
    },
    /** Returns the user of an integration. The operator chose it, so nothing waits for pairing. */
    async fixed({ name, user, accountSince }: Sender): Promise<Owner> {
      if (accountSince === undefined) return { user: (await identities.account(user)) ?? user };
      // An account that was removed, or removed and added again for somebody else, is not the one that was meant.
      if ((await accounts.find(user))?.createdAt === accountSince) return { user };
      const message = `The account of the integration ${name} was removed: the operator must remove and add the integration.`;
      throw new Fault("forbidden", "user_removed", message);
    },
  };
}

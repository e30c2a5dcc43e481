/** Whose a message is: an account, or an identity of the webhook's own. */
import { type Accounts, Fault, type Identities, type NewJob } from "../../kernel/plugin.ts";
import type { Sender } from "./integrations/integrations.ts";

type Owner = Pick<NewJob, "user" | "waitsForPairing">;

export interface UserLookup {
  /** The account that an operator paired the identity with, or the identity itself. */
  named(identity: string): Owner;
  /** The user of an integration. The operator named it, so nothing waits. */
  fixed(sender: Sender): Owner;
}

export interface UserLookupParts {
  readonly identities: Identities;
  readonly accounts: Accounts;
  /** Whether an identity that is not paired has to wait. */
  readonly isRequired: boolean;
}

export function createUserLookup({ identities, accounts, isRequired }: UserLookupParts): UserLookup {
  // An account that was removed, or removed and added again for somebody else, is not the one that was meant.
  const isThere = (id: string, since: string) => accounts.find(id)?.createdAt === since;
  const pairedWith = (identity: string): string | undefined => {
    const account = identities.account(identity);
    return account && isThere(account.id, account.createdAt) ? account.id : undefined;
  };

  return {
    named(identity) {
      const account = pairedWith(identity);
      if (account !== undefined) return { user: account };
      return { user: identity, ...(isRequired && { waitsForPairing: true }) };
    },
    fixed({ name, user, accountSince }) {
      if (accountSince === undefined) return { user: pairedWith(user) ?? user };
      if (isThere(user, accountSince)) return { user };
      throw new Fault(
        "forbidden",
        "user_removed",
        `The account of the integration ${name} was removed: the operator must remove and add the integration.`,
      );
    },
  };
}

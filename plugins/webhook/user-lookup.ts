/** Whose a message is: the account that an operator paired the identity with, or the identity itself. */
import type { Accounts, Identities, NewJob } from "../../kernel/plugin.ts";

export type UserLookup = (identity: string) => Pick<NewJob, "user" | "waitsForPairing">;

export interface UserLookupParts {
  readonly identities: Identities;
  readonly accounts: Accounts;
  /** Whether an identity that is not paired has to wait. */
  readonly isRequired: boolean;
}

export function createUserLookup({ identities, accounts, isRequired }: UserLookupParts): UserLookup {
  return (identity) => {
    const account = identities.account(identity);
    // An account that was removed, or removed and added again for somebody else, is not the one that was meant.
    const isThere = account !== undefined && accounts.find(account.id)?.createdAt === account.createdAt;
    if (isThere) return { user: account.id };
    return { user: identity, ...(isRequired && { waitsForPairing: true }) };
  };
}

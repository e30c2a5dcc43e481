/** Whether those who hold a socket are still signed in. */
import { type Log, reason } from "../../../kernel/plugin.ts";
import type { Authenticator, Identity } from "../auth/identity.ts";

export type Standing = (identity: Identity) => Promise<boolean>;

export function createStanding(authenticator: Pick<Authenticator, "stands">, log: Log): Standing {
  return async (identity) => {
    try {
      return await authenticator.stands(identity);
    } catch (error) {
      // A store that does not answer signs nobody out.
      log.warn(`who is signed in could not be checked: ${reason(error)}`);
      return true;
    }
  };
}

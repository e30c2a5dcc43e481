/** Services of accounts for other plugins. */
import type { User } from "../../kernel/kit/people.ts";

/** Somebody whose credential was checked, in a form that can be checked again without keeping the secret. */
export interface SignedIn {
  readonly user: User;
  /** Names the credential: a session made from it ends with it. */
  readonly source: string;
  /** The digest of the session cookie, if that was presented. */
  readonly session?: string;
  /** The digest of the invitation that was presented: it opens one session, and nothing else. */
  readonly invitation?: string;
  readonly expiresAt?: Date;
}

/** Why a credential was refused. It never says what was wrong with a token. */
export type SignInRefusal =
  | "unknown"
  | "unknown_invitation"
  | "foreign_domain"
  | "unverified_email"
  | "store_unavailable"
  | "provider_unavailable";

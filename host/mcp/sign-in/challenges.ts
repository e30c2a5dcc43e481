/** Keeps what a server said when it refused a request, for the sign-in: where that is, and which scopes it wants. */
import type { Keyed } from "../../../kernel/plugin.ts";

export interface Challenge {
  readonly resourceMetadataUrl?: string;
  readonly scopes?: readonly string[];
  readonly error?: string;
}

export type Challenges = ReturnType<typeof createChallenges>;

// A server may ask for other things tomorrow.
const TTL_MS = 24 * 60 * 60 * 1000;
// A stranger wrote it: a longer header is no list of scopes.
const MAX_HEADER_LENGTH = 2000;

export async function readChallenge(response: Response): Promise<Challenge> {
  const { extractWWWAuthenticateParams } = await import("@modelcontextprotocol/client");
  const header = response.headers.get("www-authenticate") ?? "";
  if (header.length > MAX_HEADER_LENGTH) return {};
  const { resourceMetadataUrl, scope, error } = extractWWWAuthenticateParams(response);
  const scopes = scope === undefined ? undefined : splitScopes(scope);
  return { resourceMetadataUrl: resourceMetadataUrl?.href, scopes, error };
}

export function splitScopes(scope = ""): readonly string[] {
  return [...new Set(scope.split(" ").filter((one) => one !== ""))];
}

/** A place is one server and one user's credential there. */
export function createChallenges(keyed: Keyed<string>) {
  /** A server that refuses everything costs one write. */
  const noted = new Map<string, string>();
  return {
    async find(place: string): Promise<Challenge | undefined> {
      const text = await keyed.get(place);
      return text === undefined ? undefined : JSON.parse(text);
    },
    async note(place: string, challenge: Challenge): Promise<void> {
      const text = JSON.stringify(challenge);
      if (noted.get(place) === text) return;
      await keyed.set(place, text, TTL_MS);
      noted.set(place, text);
    },
    async forget(place: string): Promise<void> {
      noted.delete(place);
      await keyed.delete(place);
    },
  };
}

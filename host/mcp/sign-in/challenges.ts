/** What servers said when they refused a request: where their sign-in is, and which scopes they want. Kept for the sign-in. */
import type Keyv from "keyv";

export interface Challenge {
  readonly resourceMetadataUrl?: string;
  readonly scopes?: readonly string[];
  /** `insufficient_scope` and the like. */
  readonly error?: string;
}

export interface Challenges {
  /** Of one server and one user's credential there. */
  find(place: string): Promise<Challenge | undefined>;
  note(place: string, challenge: Challenge): Promise<void>;
  forget(place: string): Promise<void>;
}

// A server may ask for other things tomorrow.
const KEPT_MILLIS = 24 * 60 * 60 * 1000;
// A stranger's words: more than this is no list of scopes.
const MAX_CHARS = 2000;

export async function readChallenge(response: Response): Promise<Challenge> {
  const { extractWWWAuthenticateParams } = await import("@modelcontextprotocol/client");
  const header = response.headers.get("www-authenticate") ?? "";
  if (header.length > MAX_CHARS) return {};
  const { resourceMetadataUrl, scope, error } = extractWWWAuthenticateParams(response);
  return {
    ...(resourceMetadataUrl && { resourceMetadataUrl: resourceMetadataUrl.href }),
    ...(scope !== undefined && { scopes: splitScopes(scope) }),
    ...(error !== undefined && { error }),
  };
}

export function splitScopes(scope: string | undefined): readonly string[] {
  return [...new Set((scope ?? "").split(" ").filter((one) => one !== ""))];
}

export function createChallenges(keyed: Keyv<string>): Challenges {
  /** So that a server which refuses everything costs one write. */
  const noted = new Map<string, string>();
  return {
    async find(place) {
      const text = await keyed.get(place);
      return text === undefined ? undefined : (JSON.parse(text) as Challenge);
    },
    async note(place, challenge) {
      const text = JSON.stringify(challenge);
      if (noted.get(place) === text) return;
      await keyed.set(place, text, KEPT_MILLIS);
      noted.set(place, text);
    },
    async forget(place) {
      noted.delete(place);
      await keyed.delete(place);
    },
  };
}

/**
 * The keys that an identity provider publishes. They are kept in the store: a restart neither waits for the
 * provider nor fails with it.
 */
import {
  createRemoteJWKSet,
  type ExportedJWKSCache,
  type JWKSCacheInput,
  type JWTVerifyGetKey,
  jwksCache,
  type RemoteJWKSet,
} from "jose";
import type Keyv from "keyv";

const PATIENCE_MILLIS = 5000;
// Providers seldom move their keys, and change them now and then.
const ADDRESS_MILLIS = 86_400_000;
const KEYS_MILLIS = 600_000;

interface KeySet {
  readonly address: string;
  readonly find: RemoteJWKSet;
  /** What was fetched, and when; jose writes it. */
  readonly cache: JWKSCacheInput;
}

export function createProviderKeys(issuer: string, keyed: Keyv): JWTVerifyGetKey {
  let asking: Promise<string> | undefined;
  // So that a request need not ask the store.
  let found: { readonly address: string; readonly until: number } | undefined;
  let known: KeySet | undefined;

  /** Nobody waits for it to be on disk: what cannot be kept is fetched again. */
  const keep = (name: string, value: unknown, millis: number): void => {
    keyed.set(name, value, millis).catch(() => {});
  };

  const findAddress = async (): Promise<string> => {
    if (found !== undefined && Date.now() < found.until) return found.address;
    const address = await askForAddress();
    found = { address, until: Date.now() + KEYS_MILLIS };
    return address;
  };

  const askForAddress = async (): Promise<string> => {
    const name = `checked address ${issuer}`;
    const kept = await keyed.get<string>(name);
    if (kept !== undefined) return kept;
    asking ??= discover(issuer).finally(() => {
      asking = undefined;
    });
    const address = await asking;
    keep(name, address, ADDRESS_MILLIS);
    return address;
  };

  const open = async (address: string): Promise<KeySet> => {
    const cache: JWKSCacheInput = (await keyed.get<ExportedJWKSCache>(`keys ${address}`)) ?? {};
    const options = { timeoutDuration: PATIENCE_MILLIS, cacheMaxAge: KEYS_MILLIS, [jwksCache]: cache };
    return { address, cache, find: createRemoteJWKSet(new URL(address), options) };
  };

  return async (header, token) => {
    const address = await findAddress();
    if (known?.address !== address) {
      const opened = await open(address);
      // Others may have come this far in the meantime: all of them share what one fetches.
      if (known?.address !== address) known = opened;
    }
    const { find, cache } = known;
    const fetchedAt = cache.uat;
    const key = await find(header, token);
    if (cache.uat !== fetchedAt) keep(`keys ${address}`, cache, KEYS_MILLIS);
    return key;
  };
}

async function discover(issuer: string): Promise<string> {
  const address = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const answer = await fetch(address, { signal: AbortSignal.timeout(PATIENCE_MILLIS), redirect: "error" });
  if (!answer.ok) throw new Error(`${address} answered ${answer.status}`);
  const { issuer: named, jwks_uri: uri } = (await answer.json()) as { issuer?: unknown; jwks_uri?: unknown };
  // Whoever answers for another issuer would bring keys of their own choosing.
  if (named !== issuer)
    throw new Error(
      `${address} is of the issuer ${JSON.stringify(named)}, not ${issuer}: they must be equal`,
    );
  const url = typeof uri === "string" ? URL.parse(uri) : null;
  if (url === null) throw new Error(`${address} names no jwks_uri`);
  if (issuer.startsWith("https:") && url.protocol !== "https:")
    throw new Error(`${address} names a jwks_uri without https`);
  return url.href;
}

/** The stored form of a secret before it is sealed: the value, or whose it is, and for whom. */

import { hash } from "node:crypto";

/** The namespace in the store; also the topic that tells other nodes of a new secret. */
export const SECRETS = "secrets";

export interface SecretRecord {
  readonly value: string;
  /** How to get the next one, where the value is an OAuth access token. */
  readonly oauth?: OAuthGrant;
}

export interface OAuthGrant {
  readonly tokenUrl: string;
  readonly clientId: string;
  /** The name of the secret that holds the client's secret. */
  readonly clientSecretSecret?: string;
  /** Present where an authorization server registered us itself, as an MCP server's does. */
  readonly client?: { readonly secret?: string; readonly auth: "basic" | "post" | "none" };
  /** Who gave the token out, where it is known: nobody else gets its refresh token. */
  readonly issuer?: string;
  /** The audience of the token (RFC 8707). */
  readonly resource?: string;
  readonly scopes: readonly string[];
  readonly refreshToken?: string;
  readonly expiresAt?: number;
}

/** The sealed form. A shared one has no value of its own. */
export interface Entry extends Partial<SecretRecord> {
  /** Changes when the value is set again for another version of its tool. */
  readonly id?: string;
  /** The tool that owns the value, and which value that was when a person agreed. */
  readonly from?: { readonly tool: string; readonly id: string | undefined };
  /** The version and the hosts that a person agreed to. */
  readonly use: { readonly digest: string; readonly hosts: readonly string[] };
}

/** No tool's name has a slash in it, and no secret's. */
export const placeOf = (tool: string, name: string) => `${tool}/${name}`;

export function parsePlace(place: string): { readonly tool: string; readonly secret: string } {
  const at = place.indexOf("/");
  return { tool: place.slice(0, at), secret: place.slice(at + 1) };
}

/** A secret of one user has another name than that for all; no tool can ask for it, because no tool's secret has a colon in it. */
export const nameFor = (secret: string, user: string | undefined) =>
  user === undefined ? secret : `${secret}:${digestOf(user)}`;

export const isOf = (secret: string, user: string): boolean => secret.endsWith(`:${digestOf(user)}`);

/** The name that the capabilities file has; `isOwn` where it is one user's. */
export function parseName(secret: string): { readonly name: string; readonly isOwn: boolean } {
  const at = secret.lastIndexOf(":");
  return at === -1 ? { name: secret, isOwn: false } : { name: secret.slice(0, at), isOwn: true };
}

/** An MCP server's secrets have colons in all their names. */
export const isServers = (tool: string): boolean => tool.startsWith("mcp:");

export const digestOf = (user: string) => hash("sha256", user, "base64url");

/** The same version, and no host that was not there when a person agreed. */
export function covers(given: NonNullable<Entry["use"]>, wanted: NonNullable<Entry["use"]>): boolean {
  return given.digest === wanted.digest && wanted.hosts.every((host) => given.hosts.includes(host));
}

export function where(hosts: readonly string[]): string {
  return hosts.length === 0 ? "no host" : hosts.join(", ");
}

export function recordOf(entry: Entry | undefined): SecretRecord | undefined {
  if (entry?.value === undefined) return undefined;
  const { value, oauth } = entry;
  return { value, oauth };
}

/** Compares values, because an id stays the same when somebody signs in again. */
export const isSame = (one: Partial<SecretRecord>, other: SecretRecord): boolean =>
  one.value === other.value && one.oauth?.refreshToken === other.oauth?.refreshToken;

export function valuesOf({ value, oauth }: Partial<SecretRecord>): string[] {
  return [value, oauth?.refreshToken, oauth?.client?.secret].filter((text) => text !== undefined);
}

/**
 * The values that are hidden in all output, whichever tool or user it belongs to. A user's own secrets and the sign-ins of MCP
 * servers come from users or strangers, and an ordinary word among them would break everybody's calls. So only values that look
 * like tokens count here; the others are hidden in the calls that use them.
 */
export function hiddenEverywhere(place: string, entry: Entry): string[] {
  const { tool, secret } = parsePlace(place);
  const isAnybodys = isServers(tool) ? !secret.startsWith("mcp:env:") : parseName(secret).isOwn;
  return isAnybodys ? valuesOf(entry).filter(looksRandom) : valuesOf(entry);
}

/** No path, no address and no words: long, with letters and digits, of the characters that tokens have. */
export function looksRandom(value: string): boolean {
  return /^[\w.~+=-]{20,}$/.test(value) && /\d/.test(value) && /[A-Za-z]/.test(value);
}

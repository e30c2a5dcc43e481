/** Who may use a secret: one tool, for all users or for one, in the version that was there when a person gave it, for the hosts it named then. */
import type { Capabilities } from "../../capabilities/capabilities.ts";

export interface Holder {
  readonly tool: string;
  readonly digest: string;
  /** Whose own secrets come before those that all users share; absent for the tool's alone. */
  readonly user?: string | undefined;
  /** Only the user's own are used: they would go where, or be sent as whom, the user alone said. */
  readonly ownOnly?: boolean | undefined;
  /** Returns the hosts that it would send a secret to, as its capabilities file says. */
  hostsOf(secret: string): readonly string[];
}

export function holderOf(tool: {
  readonly name: string;
  readonly digest: string;
  readonly capabilities: Capabilities;
  readonly user?: string | undefined;
  readonly ownOnly?: boolean | undefined;
}): Holder {
  const { http, auth } = tool.capabilities;
  const setup = auth?.oauth;
  return {
    tool: tool.name,
    digest: tool.digest,
    user: tool.user,
    ownOnly: tool.ownOnly,
    hostsOf(secret) {
      const placed = (http?.credentials ?? []).flatMap(({ secretName, hostPatterns }) =>
        secretName === secret ? hostPatterns : [],
      );
      // A client's own secret goes to the host that tokens come from.
      const isClients = setup?.clientSecretSecret === secret || setup?.clientIdSecret === secret;
      const exchanged = isClients ? [URL.parse(setup.tokenUrl)?.host ?? setup.tokenUrl] : [];
      return [...new Set([...placed, ...exchanged])].sort();
    },
  };
}

/** Who may use a secret: one tool, in the version that was there when a person gave it, for the hosts it named then. */
import type { Capabilities } from "../../capabilities/capabilities.ts";

export interface Holder {
  readonly tool: string;
  readonly digest: string;
  /** Returns the hosts that it would send a secret to, as its capabilities file says. */
  hostsOf(secret: string): readonly string[];
}

export function holderOf(tool: {
  readonly name: string;
  readonly digest: string;
  readonly capabilities: Capabilities;
}): Holder {
  const { http, auth } = tool.capabilities;
  const setup = auth?.oauth;
  return {
    tool: tool.name,
    digest: tool.digest,
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

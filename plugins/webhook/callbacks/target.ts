/** Where callbacks go, and what the operator reads when they may not go there. */
import { AddressRefused, type PrivateHosts } from "../../../kernel/kit.ts";
import { reason } from "../../../kernel/plugin.ts";

export interface CallbackTarget {
  readonly url: URL;
  /** What the operator listed in HTTP_CALLBACK_PRIVATE_HOSTS. */
  readonly privateHosts: PrivateHosts;
}

/** Why a callback failed, with the setting that would allow a refused address. */
export function explainFailure(error: unknown): string {
  if (!(error instanceof AddressRefused)) return reason(error);
  return `HTTP_CALLBACK_URL is refused: ${error.message}. List its host:port in HTTP_CALLBACK_PRIVATE_HOSTS to allow it`;
}

/** The result of every kind of source. All of it was written by a stranger, and only its digests are checked. */
import type { ToolOrigin } from "../../kernel/kit/tools.ts";
import type { Evidence } from "../trust/evidence.ts";
import type { Reference } from "./reference.ts";

export interface Fetched {
  readonly component: Uint8Array;
  readonly capabilitiesText: string;
  /** A name inferred from its reference. It may not be a valid one. */
  readonly name: string;
  readonly origin: ToolOrigin;
  readonly evidence: Evidence | undefined;
  readonly recordings?: readonly RecordingFile[];
  readonly readme?: string;
  /** Whose signature it has to have, where the index that lists it says so. */
  readonly listedSigner?: string;
}

export interface RecordingFile {
  readonly name: string;
  readonly text: string;
}

export interface FetchOptions {
  readonly progress: (line: string) => void;
  readonly signal?: AbortSignal;
  /** Given by the person, in place of what came with the component. */
  readonly capabilitiesText?: string;
}

/** One kind of place that tools come from. A fault says why nothing was got. */
export interface Source<Named extends Reference> {
  fetch(reference: Named, options: FetchOptions): Promise<Fetched>;
}

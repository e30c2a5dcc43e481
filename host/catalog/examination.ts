/** A component looked at before it is installed: compiled, asked in the sandbox what it is, and checked. */
import type { PrivateHosts } from "../../kernel/kit.ts";
import { inspect } from "../compile/component.ts";
import { type ComponentSource, createComponent, knownOutline, prepare } from "../compile/transpile.ts";
import type { Pool } from "../sandbox/pool.ts";
import { type Candidate, digestOf } from "./catalog.ts";
import type { CodeCache } from "./code-cache.ts";
import { examine, type Introduce } from "./install.ts";

/** Every check of an install; installs nothing, and where it throws leaves nothing behind. */
export type Examine = (
  component: Uint8Array,
  capabilitiesText: string,
  progress?: (line: string) => void,
) => Promise<Candidate>;

export function createExamination({
  code,
  pool,
  privateHosts,
}: {
  readonly code: CodeCache;
  readonly pool: Pool;
  readonly privateHosts: PrivateHosts;
}): Examine {
  return async (component, capabilitiesText, progress = () => {}) => {
    try {
      const introduce: Introduce = async (bytes, sha256, { limits: { memoryMb } }) => {
        const source: ComponentSource = {
          sha256,
          read: async () => bytes,
          cache: code.folder,
          memoryMb,
          onProgress: progress,
        };
        await inspect(bytes, await knownOutline(source));
        // Beforehand, since a slow machine may transpile for longer than a component may describe itself.
        await prepare(source);
        return pool.describe(createComponent(source));
      };
      return await examine(component, capabilitiesText, introduce, privateHosts);
    } catch (error) {
      await code.drop(digestOf(component));
      throw error;
    }
  };
}

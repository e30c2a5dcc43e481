/**
 * What is needed to go on with a call once a person has answered. For the newer revision it is everything there is: any node goes
 * on with it, also after a restart. For the older one the call is held open by one process, and it is only where to find it.
 */

import { randomUUID } from "node:crypto";
import { type SealingKey, seal, unseal } from "../../../kernel/kit.ts";
import type { Question } from "../../../kernel/plugin.ts";

export type Resumption =
  | {
      readonly type: "retry";
      readonly id: string;
      readonly user: string;
      /** What the agent calls the tool, and what it was then. */
      readonly name: string;
      readonly digest: string;
      readonly params: string;
      /** The server's own, handed back as it came. */
      readonly state?: string;
      readonly questions: readonly Question[];
      readonly round: number;
      /** Milliseconds since the epoch. */
      readonly until: number;
    }
  | {
      readonly type: "held";
      readonly id: string;
      readonly user: string;
      readonly name: string;
      readonly questions: readonly Question[];
    };

/** A gate may wait for days. */
export const KEPT_MILLIS = 7 * 24 * 60 * 60_000;
const PLACE = "an MCP server's question";
const LARGEST_STATE = 64 * 1024;

export interface Resumptions {
  write(resumption: Resumption): string;
  /** Nothing where it is none of ours. */
  read(text: string): Resumption | undefined;
}

/** Sealed: it lies in the thread, and the server's state and the params are in it. */
export function createResumptions(key: SealingKey): Resumptions {
  return {
    write: (resumption) => seal(key, PLACE, JSON.stringify(resumption)),
    read(text) {
      try {
        return JSON.parse(unseal(key, PLACE, text)) as Resumption;
      } catch {
        return undefined;
      }
    },
  };
}

export function newId(): string {
  return randomUUID();
}

/** The server's state, where it is one. */
export function readState(state: unknown): string | undefined {
  return typeof state === "string" && state.length <= LARGEST_STATE ? state : undefined;
}

/** Tests of what not every machine has: they are left out where it is missing, and the run says so at its end. */
import { describe } from "vitest";

declare module "vitest" {
  interface TaskMeta {
    /** What the test needs, and how to get it. */
    needs?: string;
  }
}

/** Stands in for `describe`. */
export const describeWhere =
  (isThere: boolean, needs: string): ((title: string, tests: () => void) => void) =>
  (title, tests) =>
    void describe(title, { skip: !isThere, meta: isThere ? {} : { needs } }, tests);

/** The components that are committed, beside the sources and the lock file that are here. */
import { expect, test } from "vitest";
import { isCurrent, NAMES } from "../../components/build.ts";

test.each(NAMES)(
  "%s was built from its sources as they are, with the packages of the lock file",
  async (name) => {
    // If not, `npm run component` builds it.
    expect(await isCurrent(name)).toBe(true);
  },
);

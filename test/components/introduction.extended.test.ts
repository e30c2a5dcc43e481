/** What is recorded of shipped components, beside what they say when they are asked. */
import { hash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { NAMES } from "../../components/build.ts";
import { filesOf } from "../../host/catalog/shipped.ts";
import { readOutline } from "../../host/compile/component.ts";
import { createComponent, readIntroduction } from "../../host/compile/transpile.ts";
import { createPool } from "../../host/sandbox/pool.ts";
import { temporaryFolder } from "../support/home.ts";
import { builtComponent } from "../support/tools/shipped.ts";
import { afterThisTest } from "../support/undo.ts";

test.each(NAMES)(
  "%s introduces itself as it is recorded, so nothing of it has to run before it is installed",
  async (name) => {
    const bytes = await builtComponent(name);
    const sha256 = hash("sha256", bytes);
    const { component, outline, description } = await readIntroduction(filesOf(name).introduction);
    expect(component).toBe(sha256);
    expect(await readOutline(bytes)).toEqual(outline);
    const pool = createPool({ size: 1 });
    afterThisTest(pool.close);
    const { limits } = JSON.parse(await readFile(filesOf(name).capabilities, "utf8")) as {
      readonly limits?: { readonly memory_mb?: number };
    };
    const source = {
      sha256,
      read: async () => bytes,
      cache: temporaryFolder(),
      memoryMb: limits?.memory_mb ?? 64,
    };
    expect(await pool.describe(createComponent(source))).toMatchObject(description);
  },
);

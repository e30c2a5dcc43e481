import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "@bytecodealliance/jco";
import { expect, test } from "vitest";
import { code } from "../../../plugins/memory/hamming.ts";

const SOURCE = join(import.meta.dirname, "..", "..", "..", "plugins", "memory", "hamming.wat");

test("the code that counts signs is its source, assembled", async () => {
  expect(Buffer.from(code())).toEqual(Buffer.from(await parse(readFileSync(SOURCE, "utf8"))));
});

import { expect, test } from "vitest";
import { distancesTo, SIGN_BYTES } from "../../../plugins/memory/hamming.ts";

const COUNT = 2500;

test("as many signs differ as a plain count says, for any number of passages", () => {
  let state = 7;
  const signs = (count: number) =>
    Uint8Array.from({ length: count * SIGN_BYTES }, () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return state >>> 24;
    });
  const ones = (byte: number) => byte.toString(2).replaceAll("0", "").length;
  const [query, passages] = [signs(1), signs(COUNT)];
  passages.set(query, 0);
  passages.set(
    query.map((byte) => ~byte),
    (COUNT - 1) * SIGN_BYTES,
  );
  const plain = (at: number) =>
    query.reduce((sum, byte, index) => sum + ones(byte ^ (passages[at * SIGN_BYTES + index] as number)), 0);
  const distances = distancesTo(query, passages, COUNT);
  expect([...distances]).toEqual(Array.from({ length: COUNT }, (_, at) => plain(at)));
  expect([distances[0], distances[COUNT - 1]]).toEqual([0, SIGN_BYTES * 8]);
  expect(distancesTo(query, passages, 0)).toHaveLength(0);
});

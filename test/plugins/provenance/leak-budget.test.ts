import { describe, expect, test } from "vitest";
import { createLeakBudget } from "../../../plugins/provenance/call/leak-budget.ts";
import { hear } from "../../../plugins/provenance/person/utterances.ts";
import { type Called, judge } from "../../../plugins/provenance/ruling.ts";
import { answer, call, TODAY, text } from "./calls.ts";

const HEARD = [answer("read_file", "The code is 8371.")];
const properties = { query: text, page: { type: "number" }, all: { type: "boolean" } };
const find = (params: object, more: Partial<Called> = {}) =>
  call("find_things", params, { writes: false, isOutside: true, properties, ...more });

/** How many of these calls of one turn run in silence, up to the first that asks. */
function silent(person: string, calls: readonly Called[]): number {
  const [said, budget] = [hear([person], [], TODAY), createLeakBudget()];
  const asks = calls.findIndex((made) => judge(made, said, HEARD, budget).length > 0);
  return asks === -1 ? calls.length : asks;
}

const ITEMS = ["red paint", "a brush", "two ladders", "some nails", "white paper", "soft soap"];
const LIST = `Find the prices of ${ITEMS.join(", ")}.`;

describe("the calls of one turn", () => {
  test("may go through what the person listed, page by page, and ask for the same again", () => {
    const searches = ITEMS.map((query) => find({ query, all: false }));
    expect(silent(LIST, searches)).toBe(ITEMS.length);
    const pages = Array.from({ length: 10 }, (_, at) => find({ query: "red paint", page: at + 1 }));
    expect(silent(LIST, pages)).toBe(10);
    expect(silent(LIST, Array(50).fill(find({ query: "red paint", all: true })))).toBe(50);
  });

  test("do not spell anything in the order of the person's words", () => {
    const orders = Array.from({ length: 40 }, (_, at) => find({ query: ITEMS[(at * 5) % 6] }));
    expect(silent(LIST, orders)).toBeLessThan(8);
    const single = [..."0110100110010110"].map((bit) => find({ query: bit === "1" ? "paint" : "soap" }));
    expect(silent(LIST, single)).toBeLessThan(10);
  });

  test("do not spell anything in switches, which count over all of them", () => {
    const bits = [..."0110100110010110".repeat(4)].map((bit) => find({ all: bit === "1" }));
    expect(silent(LIST, bits)).toBeLessThan(16);
  });

  test("that change something carry no more than others", () => {
    const add = (words: readonly unknown[]) =>
      call(
        "add_items",
        { words },
        { isOutside: true, properties: { words: { type: "array", items: text } } },
      );
    const person = `Add the items ${ITEMS.join(", ")}.`;
    expect(silent(person, [add(ITEMS)])).toBe(1);
    expect(silent(person, [add(Array.from({ length: 32 }, (_, at) => ITEMS[(at * 5) % 6]))])).toBe(0);
    expect(silent(person, [add([...ITEMS, ...Array(20).fill(null)])])).toBe(0);
  });
});

import { expect, test } from "vitest";
import { whyRan } from "../../../../../plugins/page/pages/tools/receipt-words.ts";

test("a receipt says why its call ran", () => {
  const doubts = [
    { rule: "destination", param: "to", value: "DE00", sentence: "DE00 comes from a mail" } as const,
  ];
  expect(whyRan({ verdict: "approved", doubts }, undefined)).toBe(
    `ran after you approved it: DE00 comes from a mail`,
  );
  expect(whyRan({ verdict: "trusted", doubts }, undefined)).toBe("went to a destination that you trust");
  expect(whyRan({ verdict: "trusted", doubts }, "ann")).toBe("went to a destination that ann trusts");
  expect(whyRan({ verdict: "off", doubts: [] }, undefined)).toBe("not checked: PROVENANCE=off");
  expect(whyRan({ verdict: "clear", doubts: [] }, undefined)).toBe("");
});

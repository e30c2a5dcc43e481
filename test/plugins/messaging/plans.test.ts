/** The question about several planned steps, as a chat shows it. */
import { expect, test } from "vitest";
import type { Gate } from "../../../kernel/plugin.ts";
import { wordGate } from "../../../plugins/messaging/gate-wording.ts";

const GATE: Extract<Gate, { type: "approval" }> = {
  type: "approval",
  id: "g",
  turn: "t",
  thread: "h",
  openedAt: "2026-11-19T12:00:00.000Z",
  call: { id: "c", name: "plan_steps", params: '{"steps":[]}' },
  grants: [],
  steps: [
    {
      tool: "market_add_to_basket",
      title: "Add to basket (market)",
      note: "you did not ask for this, or not again",
      values: [
        {
          param: "item_id",
          called: "*Ridge*",
          from: "from the MCP server market",
          value: "i-207",
        },
      ],
    },
    {
      tool: "market_place_order",
      title: "Place order (market)",
      values: [
        { param: "payment_id", value: "pm-3" },
        { param: "note", value: "" },
      ],
    },
  ],
};

test("a plan is its steps in words, with the name and the owner of a value before it, and no JSON", () => {
  const { title, words, choices } = wordGate(GATE);
  expect(title).toBe("May these 2 steps be made? Add to basket (market), Place order (market)");
  expect(words.split("\n").filter((line) => line !== "")).toEqual([
    "**May these 2 steps be made?**",
    "1\\. **Add to basket (market)**: you did not ask for this, or not again",
    "- item\\_id “\\*Ridge\\*” *(from the MCP server market)*: **i-207**",
    "2\\. **Place order (market)**",
    "- payment\\_id: **pm-3**",
    "- note:",
  ]);
  expect(choices.map(({ label }) => label)).toEqual(["Allow these steps", "Deny"]);
});

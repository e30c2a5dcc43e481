import { expect, test } from "vitest";
import { openTerminalWithModel } from "../../support/processes/tui-terminal.ts";

test("a question of a tool's server is answered line by line, and a page to visit is shown whole", async () => {
  const { model, terminal } = await openTerminalWithModel({ rows: 40 });
  model.script({ calls: [{ name: "shop_order", arguments: {} }] }, { text: "It is ordered." });
  terminal.type("Order pears\r");
  await terminal.until("shop has a question.");
  await terminal.until("Enter to confirm");
  expect(terminal.text()).toMatch(/\? ▸ shop_order/);
  expect(terminal.text()).toContain("These are its words");
  // A key typed just as it appears answers nothing; Decline is preselected.
  terminal.type("a\r");
  await terminal.until("Enter to answer: Recipient");
  terminal.type("\r");
  await terminal.until("Recipient is required.");
  terminal.type("Ann\r");
  await terminal.until("Enter to answer: How many");
  terminal.type("12\r");
  await terminal.until("How many must be at most 9.");
  terminal.type("\r");
  await terminal.until("Enter to answer: It is a gift");
  terminal.type("y\r");
  await terminal.until("Enter to answer: Speed");
  terminal.type("2\r");
  await terminal.until("https://bank.example/pay?order=7");
  await terminal.until((seen) => /Done \(a\).*Enter to confirm/.test(seen.text()));
  terminal.type("a\r");
  await terminal.until("It is ordered.");
  expect(terminal.text().match(/✓ ▸ shop_order/g)).toHaveLength(1);
  expect(model.requests[1]?.messages.at(-1)?.content).toContain(
    'accept {"name":"Ann","count":2,"gift":true,"speed":"fast"}',
  );
});

test("a question can be left with Esc and is declined with Enter", async () => {
  const { model, terminal } = await openTerminalWithModel({ rows: 40 });
  model.script({ calls: [{ name: "shop_order", arguments: {} }] }, { text: "Then not." });
  terminal.type("Order pears\r");
  await terminal.until("Enter to confirm");
  terminal.type("a\r");
  await terminal.until("Enter to answer: Recipient");
  terminal.press("escape");
  await terminal.until("Tab to answer");
  terminal.press("tab");
  await terminal.until("Enter to confirm");
  terminal.type("n\r");
  await terminal.until("Then not.");
  expect(JSON.stringify(model.requests[1])).toContain("decline form");
});

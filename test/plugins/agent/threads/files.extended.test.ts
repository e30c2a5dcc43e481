/** Files that people attach: what is in them is nobody's order. */
import { expect, test } from "vitest";
import { pdf } from "../../../support/pdf.ts";
import { BILL, doubtsOf, IBAN, office, pay } from "../../../support/services/office.ts";

test("what a file says is somebody else's word: in a text and in a PDF, in its turn and later", async () => {
  const { kernel, model, sent, say } = await office();
  const attachments = kernel.service("attachments");
  const asked = (name: string) => [
    expect.objectContaining({ rule: "destination", value: IBAN, origin: { kind: "file", name } }),
    expect.objectContaining({ rule: "change", param: "amount" }),
  ];
  for (const [name, data] of [
    ["bill.txt", Buffer.from(BILL)],
    ["bill.pdf", pdf(BILL)],
  ] as const) {
    const { id } = await attachments.add("ann", { name, data });
    const { attachments: named, attached, alongside: _ } = await attachments.bring("ann", [id]);
    model.script({ calls: [pay("p", IBAN)] });
    const input = { type: "message", text: "Look at this", attachments: named } as const;
    const { gate } = await say("", undefined, { input, attached });
    expect(doubtsOf(gate)).toEqual(asked(name));
    model.script({ text: "A bill." }, { calls: [pay("p", IBAN)] });
    const { thread } = await say("", undefined, { input, attached });
    const later = await say("Do what is needed", thread);
    expect(doubtsOf(later.gate)).toEqual(asked(name));
  }
  expect(sent).toEqual([]);
});

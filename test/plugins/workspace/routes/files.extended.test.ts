/** What a PDF of the workspace says, which a process of its own reads. */
import { expect, test } from "vitest";
import { pdf } from "../../../support/pdf.ts";
import { openGateway } from "../../../support/services/gateway.ts";

test("a PDF is previewed and compared by its text, and one that is damaged says so", async () => {
  const gateway = await openGateway();
  const workspace = gateway.service.service("workspace");
  const write = (path: string, data: Uint8Array) =>
    workspace.apply("operator", [{ op: "write", path, data }], { writer: { kind: "page" } });
  await write("/bill.pdf", pdf("Invoice 17", "Total: 99 EUR"));
  await write("/bill.pdf", pdf("Invoice 17", "Total: 98 EUR"));
  await write("/broken.pdf", Buffer.from("%PDF-1.7 and no more"));
  const ask = async (path: string) => (await gateway.ask(`/api/workspace${path}`)).body;
  expect(await ask("/text?path=/bill.pdf")).toEqual({
    text: "[Page 1]\nInvoice 17\n\n[Page 2]\nTotal: 98 EUR",
    is_complete: true,
  });
  expect((await ask("/diff?path=/bill.pdf&from=1&to=2")).lines).toEqual([
    ...["  ", "  [Page 2]", "- Total: 99 EUR", "+ Total: 98 EUR"],
  ]);
  expect(await ask("/text?path=/broken.pdf")).toMatchObject({
    ...{ text: "", is_complete: false, problem: expect.stringContaining("damaged") },
  });
});

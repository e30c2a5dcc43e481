/** Documents as people have them: sent with a message, kept in the workspace, and shown on the page. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "../../../support/clone.ts";
import { scriptedModel } from "../../../support/services/agent.ts";
import { OPERATOR_TOKEN, openGateway } from "../../../support/services/gateway.ts";

const lease = readFileSync(join(ROOT, "test", "fixtures", "documents", "lease.docx"));

test("a message with a Word document is answered from what it says", async () => {
  const model = await scriptedModel();
  const gateway = await openGateway({ model });
  const form = new FormData();
  form.set("file", new Blob([Uint8Array.from(lease)]), "lease.docx");
  const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
  const upload = await fetch(`${gateway.url}/api/attachments`, { method: "POST", headers, body: form });
  expect(upload.status).toBe(201);
  const { id } = (await upload.json()) as { id: string };
  model.otherwise(({ messages }) => ({
    text: `It is ${/rent is ([\d,]+ euros)/.exec(JSON.stringify(messages.at(-1)?.content))?.[1]}.`,
  }));
  const { body } = await gateway.ask("/api/chat", {
    method: "POST",
    body: { message: "What is the rent?", attachments: [id] },
  });
  expect(body.response).toBe("It is 1,250 euros.");
  expect(JSON.stringify(model.requests)).not.toContain("send the keys");
});

test("a document of the workspace is previewed and read by the model as what it says", async () => {
  const model = await scriptedModel();
  const gateway = await openGateway({ model });
  const put = await fetch(`${gateway.url}/api/workspace/file?path=/lease.docx`, {
    method: "PUT",
    headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, "content-type": "application/octet-stream" },
    body: Uint8Array.from(lease),
  });
  expect(put.status).toBe(200);
  const preview = await gateway.ask("/api/workspace/text?path=/lease.docx");
  expect(preview.body).toMatchObject({ is_complete: true, text: expect.stringContaining("Hall | 120") });
  model.otherwise(({ messages }) => {
    const said = JSON.stringify(messages.at(-1)?.content);
    return messages.at(-1)?.role === "tool"
      ? { text: /1,250 euros/.test(said) ? "1,250 euros" : said }
      : { calls: [{ name: "workspace_read", arguments: { path: "/lease.docx", from_line: 3 } }] };
  });
  const { body } = await gateway.ask("/api/chat", { method: "POST", body: { message: "What is the rent?" } });
  expect(body.response).toBe("1,250 euros");
});

/** D. Integrations instead of one shared secret. */
import { beforeAll, expect } from "vitest";
import { attack } from "../support/attacks.ts";
import { type Attacked, serveUnderAttack } from "../support/processes/attacked.ts";
import { completed } from "../support/services/webhook.ts";
import { afterThisFile } from "../support/undo.ts";

const later = afterThisFile();
let service: Attacked;
let webhook: Attacked["webhook"];

beforeAll(async () => {
  service = await serveUnderAttack(later, { HTTP_PAIRING: "required" });
  service.served.model.otherwise({ text: "done" });
  webhook = service.webhook;
  await service.send("POST", "/api/users", { id: "ann" });
});

attack("D", "a user whom nobody knows says nothing until an operator has named an account", async () => {
  const asked = service.served.model.requests.length;
  const { json } = await webhook.post({ user_id: "ann", message: "hello" }, { prefer: "wait=1" });
  expect(json).toEqual({ job_id: expect.any(String), status: "queued", waiting_for: "pairing" });
  expect(service.served.model.requests).toHaveLength(asked);
  const { pending } = (await service.send("GET", "/api/approvals")).json;
  expect(pending).toMatchObject([{ type: "pairing", identity: "webhook/ann", message: "hello" }]);

  const wrong = await service.run("user", "pair", "ann", "ann");
  expect({ code: wrong.code, stderr: wrong.stderr }).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("webhook/<user_id>"),
  });
  expect((await service.run("user", "pair", "webhook/ann", "bob")).code).toBe(1);
  expect((await service.run("user", "pair", "webhook/ann", "ann")).code).toBe(0);
  expect(await completed(webhook, json.job_id)).toMatchObject({ response: "done" });
  const { stdout } = await service.run("user", "identities", "--json");
  expect(JSON.parse(stdout).identities).toMatchObject([{ id: "webhook/ann", account: "ann", held: 0 }]);
});

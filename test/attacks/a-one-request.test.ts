/** One request must not stop everybody: what would keep the service busy for minutes is answered at once. */
import { beforeAll, expect } from "vitest";
import { attack } from "../support/attacks.ts";
import { type Attacked, serveUnderAttack } from "../support/processes/attacked.ts";
import { afterThisFile } from "../support/undo.ts";

const later = afterThisFile();
let service: Attacked;

beforeAll(async () => {
  service = await serveUnderAttack(later);
});

attack(2, "A message full of spaces after a bracket is answered, and so is everybody else", async () => {
  const message = `hi <${" ".repeat(400_000)}x`;
  const answers = await Promise.all([
    service.send("POST", "/api/chat", { message }),
    service.send("POST", "/v1/responses", { model: "reborn", input: message }),
    service.send("GET", "/health"),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
});

import { expect, test } from "vitest";
import { Fault } from "../../../kernel/fault.ts";
import { httpFault } from "../../../kernel/net/http-fault.ts";
import { callersReason } from "../../../plugins/agent/threads/end.ts";

test("a message for the operator is not what callers read", () => {
  const details = { param: "STORE_URL", callersMessage: "Try again later." };
  const fault = new Fault("unavailable", "store_unavailable", "the database at db.internal is down", details);
  const { status, body } = httpFault(fault, { largestBody: "1 MB" });
  expect([status, body.error]).toEqual([
    503,
    { message: "Try again later.", type: "server_error", param: null, code: "store_unavailable" },
  ]);
  expect(callersReason(fault)).toBe("Try again later.");
  expect(callersReason(new Error("plain"))).toBe("plain");
});

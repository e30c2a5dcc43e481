import { expect, test } from "vitest";
import { whyAutomatic } from "../../../../plugins/email/reading/automatic.ts";
import { headerLines } from "../../../support/mails.ts";

const OWN = { address: "agent@postern.test", isOwnId: (id: string) => id.startsWith("<postern.") };
const judge = (lines: readonly string[], sender = "ann@honest.test") =>
  whyAutomatic(headerLines(["Return-Path: <ann@honest.test>", ...lines]), sender, OWN);

test.each([
  ["a reply of a responder", "Auto-Submitted: auto-replied", "an automatic reply"],
  ["a notice", "Auto-Submitted: auto-generated; type=notice", "an automatic reply"],
  ["a vacation of an old program", "X-Autoreply: yes", "an automatic reply"],
  ["what Exchange marks", "X-Auto-Response-Suppress: DR, OOF, AutoReply", "an automatic mail"],
  ["a list", "List-Id: <dev.example.org>", "a mail of a list"],
  ["a newsletter", "List-Unsubscribe: <https://example.org/u>", "a mail of a list"],
  ["bulk", "Precedence: bulk", "a mail of a list"],
  ["a delivery report", "Content-Type: multipart/report; report-type=delivery-status", "a bounce"],
  ["our own id", "Message-ID: <postern.a.b@postern.test>", "our own mail"],
])("%s is not answered", (_, line, kind) => {
  expect(judge([line])).toBe(kind);
});

test("what has no sender in its envelope is a bounce", () => {
  expect(whyAutomatic(headerLines(["Return-Path: <>"]), "ann@honest.test", OWN)).toBe("a bounce");
});

test("our own address is never answered, nor are programs", () => {
  expect(judge([], "agent@postern.test")).toBe("our own mail");
  for (const local of [
    "mailer-daemon",
    "noreply",
    "no-reply",
    "do-not-reply",
    "no-reply+x",
    "owner-dev",
    "dev-request",
    "bounces",
  ])
    expect(judge([], `${local}@honest.test`), local).toBe("a mail of a program");
});

test("a person's mail is answered", () => {
  const lines = [
    "Auto-Submitted: no",
    "Precedence: normal",
    "X-Auto-Response-Suppress: None",
    "Message-ID: <1@honest.test>",
  ];
  for (const sender of ["ann@honest.test", "norepliesson@honest.test", "request@honest.test"])
    expect(judge(lines, sender), sender).toBeUndefined();
});

import { describe, expect, test } from "vitest";
import { whyNotAuthentic } from "../../../../plugins/email/reading/authentication.ts";
import { senderOf } from "../../../../plugins/email/reading/header.ts";
import { headerLines } from "../../../support/mails.ts";

const ID = "mx.postern.test";
const OURS = "Received: from mail.honest.test by mx.postern.test; Tue, 17 Nov 2026 10:00:00 +0000";
const BODY = ["From: Ann <ann@honest.test>", "To: agent@postern.test", "Subject: Hello"];

const judge = (...lines: string[]) => whyNotAuthentic(headerLines(lines), ID, "honest.test");
const results = (text: string, id = ID) => `Authentication-Results: ${id}; ${text}`;

describe("what our server vouches for", () => {
  test.each([
    ["DMARC", "dmarc=pass (p=REJECT sp=REJECT dis=NONE) header.from=honest.test"],
    [
      "DMARC beside others",
      "spf=pass smtp.mailfrom=x@bulk.test; dkim=pass header.d=bulk.test; dmarc=pass header.from=honest.test",
    ],
    ["SPF of the same domain", "spf=pass (mx: 10.0.0.1 is allowed) smtp.mailfrom=bounce@honest.test"],
    ["SPF without a local part", "spf=pass smtp.mailfrom=honest.test"],
    ["DKIM of the same domain", "dkim=fail header.d=bulk.test; dkim=pass header.d=honest.test header.s=s1"],
    ["DKIM by identity", "dkim=pass header.i=@honest.test"],
    ["DKIM by both", "dkim=pass header.d=honest.test header.i=@honest.test"],
    ["a version, folds and capitals", "\r\n\tDKIM/1 = PASS (2048-bit key)\r\n header.d=Honest.Test"],
    ["no DMARC policy but DKIM", "dmarc=none header.from=honest.test; dkim=pass header.d=honest.test"],
  ])("%s", (_, text) => {
    expect(judge(results(text), OURS, ...BODY)).toBeUndefined();
  });

  test("results that the server wrote below its own Received count as well", () => {
    const below = results("dmarc=pass header.from=honest.test");
    expect(judge("Return-Path: <ann@honest.test>", OURS, below, ...BODY)).toBeUndefined();
  });

  test("a server may write one header for each check, on top", () => {
    const found = judge(
      results("spf=fail smtp.mailfrom=bulk.test"),
      results("dkim=pass header.d=honest.test"),
      OURS,
      ...BODY,
    );
    expect(found).toBeUndefined();
  });
});

describe("what does not count", () => {
  test.each([
    ["no result at all", "none"],
    ["DMARC that failed", "dmarc=fail header.from=honest.test; dkim=pass header.d=honest.test"],
    ["DMARC of another domain", "dmarc=pass header.from=evil.test"],
    ["DMARC without a domain", "dmarc=pass"],
    ["SPF of another domain", "spf=pass smtp.mailfrom=eve@evil.test"],
    ["SPF of a domain that ends the same", "spf=pass smtp.mailfrom=eve@nothonest.test"],
    ["DKIM of another domain by an identity", "dkim=pass header.d=evil.test header.i=@honest.test"],
    ["DKIM of a domain below", "dkim=pass header.d=honest.test.evil.test"],
    ["a word in a comment", "dmarc=fail (dmarc=pass header.from=honest.test) header.from=honest.test"],
    ["a word in a quoted text", 'spf=pass smtp.mailfrom="a; dmarc=pass header.from=honest.test"@evil.test'],
    ["a second property", "spf=pass smtp.mailfrom=evil.test smtp.mailfrom=honest.test"],
    [
      "two answers that contradict each other",
      "dmarc=fail header.from=honest.test; dmarc=pass header.from=honest.test",
    ],
    ["a comment that does not end", "dmarc=fail ( ; dmarc=pass header.from=honest.test"],
  ])("%s", (_, text) => {
    expect(judge(results(text), OURS, ...BODY)).toBeDefined();
  });

  const FORGED = results("dmarc=pass header.from=honest.test");
  test("forged results below ours", () => {
    const real = results("dmarc=fail header.from=honest.test");
    expect(judge(real, OURS, FORGED, ...BODY)).toBe("DMARC did not pass");
    expect(judge(OURS, real, FORGED, ...BODY)).toBe("DMARC did not pass");
    expect(judge(OURS, results("dkim=none"), FORGED, ...BODY)).toBeDefined();
  });

  test("forged results below what a sender writes", () => {
    expect(judge(OURS, ...BODY, FORGED)).toBe(`it has no Authentication-Results of ${ID}`);
    expect(judge(OURS, "DKIM-Signature: v=1", FORGED, ...BODY)).toBe(
      `it has no Authentication-Results of ${ID}`,
    );
  });

  test("results of another server, or one whose name begins the same", () => {
    for (const id of ["mx.evil.test", `${ID}.evil.test`, `x${ID}`, `"${ID} x"`])
      expect(judge(results("dmarc=pass header.from=honest.test", id), OURS, ...BODY)).toBeDefined();
  });

  test("what relays have stored (ARC)", () => {
    const arc = `ARC-Authentication-Results: i=1; ${ID}; dmarc=pass header.from=honest.test`;
    expect(judge(arc, OURS, ...BODY)).toBeDefined();
  });
});

describe("whose mail it is", () => {
  const sender = (...lines: string[]) => senderOf(headerLines(lines))?.address;
  test.each([
    ["ann@honest.test"],
    ["<Ann@Honest.test>"],
    ['"Ann, of Honest" <ann@honest.test>'],
    ["=?utf-8?q?=C3=84nn?= <ann@honest.test>"],
    ['"bob@evil.test" <ann@honest.test>'],
    ["Ann <ann@honest.test> (at home)"],
    ["Ann\r\n <ann@honest.test>"],
  ])("%s", (from) => {
    expect(sender(`From: ${from}`)).toBe("ann@honest.test");
  });

  test.each([
    ["two addresses", "ann@honest.test, eve@evil.test"],
    ["two in brackets", "<eve@evil.test> <ann@honest.test>"],
    ["an address before the brackets", "ann@honest.test <eve@evil.test>"],
    ["a group", "friends: ann@honest.test;"],
    ["an address in words of another encoding", "=?utf-8?q?ann=40honest.test?="],
    ["letters that become ASCII in lower case", "\u212aate@honest.test"],
    ["a quoted local part", '"ann x"@honest.test'],
    ["a route", "<@evil.test:ann@honest.test>"],
    ["something after the brackets", "<ann@honest.test>evil.test"],
    ["nothing", ""],
  ])("is not clear with %s", (_, from) => {
    expect(sender(`From: ${from}`)).toBeUndefined();
  });

  test("is not clear with two From headers, or none", () => {
    expect(sender("From: ann@honest.test", "From: eve@evil.test")).toBeUndefined();
    expect(sender("Subject: x")).toBeUndefined();
  });
});

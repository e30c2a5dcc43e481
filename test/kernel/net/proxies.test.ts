import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { createProxies, readTrustedProxies } from "../../../kernel/net/proxies.ts";
import { Settings } from "../../../kernel/settings/env.ts";

const asked = (remoteAddress: string, forwardedFor?: string) =>
  ({ socket: { remoteAddress }, headers: { "x-forwarded-for": forwardedFor } }) as unknown as IncomingMessage;

test.each([
  ["nobody is trusted, so the header is nobody's word", [], "9.9.9.9", "1.1.1.1", "9.9.9.9"],
  ["a stranger's header is not believed", ["10.0.0.0/8"], "9.9.9.9", "1.1.1.1", "9.9.9.9"],
  ["a trusted proxy's is", ["10.0.0.0/8"], "10.0.0.1", "1.1.1.1", "1.1.1.1"],
  ["what the client wrote itself lies beyond it", ["10.0.0.0/8"], "10.0.0.1", "6.6.6.6, 1.1.1.1", "1.1.1.1"],
  ["two proxies of ours are both passed", ["10.0.0.0/8"], "10.0.0.1", "1.1.1.1, 10.0.0.2", "1.1.1.1"],
  ["what is no address ends the walk", ["10.0.0.0/8"], "10.0.0.1", "1.1.1.1, nonsense", "10.0.0.1"],
  ["IPv4 in IPv6 is that IPv4", ["10.0.0.1"], "::ffff:10.0.0.1", "::ffff:1.1.1.1", "1.1.1.1"],
  ["IPv6 ranges work alike", ["fd00::/8"], "fd00::1", "2001:db8::7", "2001:db8::7"],
])("%s", (_title, trusted, peer, header, client) => {
  expect(createProxies(trusted).address(asked(peer, header))).toBe(client);
});

test("a setting that two listeners share is complained of once", () => {
  const settings = new Settings({ TRUSTED_PROXIES: "10.0.0.0/8,proxy.local" });
  readTrustedProxies(settings.for("gateway"));
  readTrustedProxies(settings.for("webhook"));
  expect(settings.problems).toHaveLength(1);
});

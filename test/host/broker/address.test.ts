import fc from "fast-check";
import { expect, test } from "vitest";
import { AddressRefused, refuseAddress, resolve, resolvePublic } from "../../../host/broker/address.ts";

test.each([
  ["127.0.0.1", "loopback"],
  ["127.255.255.254", "loopback"],
  ["0.0.0.0", "unspecified"],
  ["0.1.2.3", "unspecified"],
  ["10.1.2.3", "private"],
  ["172.16.0.1", "private"],
  ["172.31.255.255", "private"],
  ["192.168.1.1", "private"],
  ["169.254.169.254", "link-local"],
  ["100.64.0.1", "shared (CGNAT)"],
  ["100.100.100.200", "shared (CGNAT)"],
  ["224.0.0.1", "multicast"],
  ["255.255.255.255", "broadcast"],
  ["192.0.0.192", "reserved"],
  ["198.18.0.1", "reserved"],
  ["240.0.0.1", "reserved"],
  ["168.63.129.16", "metadata"],
  ["::", "unspecified"],
  ["::1", "loopback"],
  ["::127.0.0.1", "IPv4-mapped"],
  ["fe80::1", "link-local"],
  ["fc00::1", "private"],
  ["fd00:ec2::254", "private"],
  ["ff02::1", "multicast"],
  ["::ffff:127.0.0.1", "IPv4-mapped"],
  ["::ffff:a00:1", "IPv4-mapped"],
  ["::ffff:8.8.8.8", "IPv4-mapped"],
  ["64:ff9b::7f00:1", "NAT64"],
  ["2002:7f00:1::", "6to4"],
  ["2001:0:7f00:1::", "teredo"],
  ["fec0::1", "site-local"],
  ["4000::1", "reserved"],
  ["fe80::1%eth0", "link-local"],
  ["2130706433", "malformed"],
  ["localhost", "malformed"],
])("%s is refused as %s", (address, kind) => {
  expect(refuseAddress(address)).toBe(kind);
});

test.each(["8.8.8.8", "1.1.1.1", "172.32.0.1", "2606:4700:4700::1111", "2a00:1450:4001::200e"])(
  "%s is an ordinary public address",
  (address) => {
    expect(refuseAddress(address)).toBeUndefined();
  },
);

const answer =
  (...addresses: string[]) =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));

test("one private address among public ones condemns the name", async () => {
  await expect(resolvePublic("a.example", answer("8.8.8.8", "10.0.0.1"))).rejects.toThrow(
    "a.example resolves to 10.0.0.1, a private address, which tools may not reach.",
  );
});

test("literals are checked without asking the name service", async () => {
  const never = () => Promise.reject(new Error("asked"));
  await expect(resolvePublic("[::1]", never)).rejects.toThrow(AddressRefused);
  await expect(resolvePublic("169.254.169.254", never)).rejects.toThrow("is a link-local address");
  expect(await resolvePublic("8.8.8.8", never)).toEqual([{ address: "8.8.8.8", family: 4 }]);
});

test("localhost as the system resolves it is refused, and excepted hosts may be anywhere", async () => {
  await expect(resolvePublic("localhost")).rejects.toThrow(AddressRefused);
  expect(await resolve("127.0.0.1")).toEqual([{ address: "127.0.0.1", family: 4 }]);
});

test("a name without addresses is refused", async () => {
  await expect(resolvePublic("a.example", answer())).rejects.toThrow("has no address");
});

test("an inner IPv4 address is reached by no IPv6 spelling of it", () => {
  const byte = fc.integer({ min: 0, max: 255 });
  const inner = fc.oneof(
    fc.tuple(fc.constant(10), byte, byte, byte),
    fc.tuple(fc.constant(127), byte, byte, byte),
    fc.tuple(fc.constant(192), fc.constant(168), byte, byte),
    fc.tuple(fc.constant(169), fc.constant(254), byte, byte),
  );
  fc.assert(
    fc.property(inner, ([a, b, c, d]) => {
      const high = (a * 256 + b).toString(16);
      const low = (c * 256 + d).toString(16);
      for (const address of [
        `${a}.${b}.${c}.${d}`,
        `::ffff:${high}:${low}`,
        `::ffff:0:${high}:${low}`,
        `::${high}:${low}`,
        `64:ff9b::${high}:${low}`,
        `64:ff9b:1::${high}:${low}`,
        `2002:${high}:${low}::1`,
      ]) {
        expect([address, refuseAddress(address)]).not.toEqual([address, undefined]);
      }
    }),
  );
});

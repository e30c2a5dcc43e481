import fc from "fast-check";
import { expect, test } from "vitest";
import {
  AddressRefused,
  hostInUrl,
  isLoopback,
  type Lookup,
  refuseAddress,
  resolveFor,
} from "../../../kernel/net/address.ts";
import { REFUSED_ADDRESSES } from "../../support/addresses.ts";

const ODD: typeof REFUSED_ADDRESSES = [
  ["fe80::1%eth0", "link-local"],
  ["2130706433", "malformed"],
  ["localhost", "malformed"],
];

test.for([...REFUSED_ADDRESSES, ...ODD])("%s is refused as %s", ([address, kind]) => {
  expect(refuseAddress(address)).toBe(kind);
});

test.each(["8.8.8.8", "1.1.1.1", "172.32.0.1", "2606:4700:4700::1111", "2a00:1450:4001::200e"])(
  "%s is an ordinary public address",
  (address) => {
    expect(refuseAddress(address)).toBeUndefined();
  },
);

const resolvePublic = (host: string, lookup?: Lookup) =>
  resolveFor(new URL(`http://${host}/`), new Set(), lookup);

const answer =
  (...addresses: string[]) =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));

test("one private address among public ones condemns the name", async () => {
  await expect(resolvePublic("a.example", answer("8.8.8.8", "10.0.0.1"))).rejects.toThrow(
    "a.example resolves to 10.0.0.1, a private address",
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
  const excepted = resolveFor(new URL("http://127.0.0.1:81/"), new Set(["127.0.0.1:81"]));
  expect(await excepted).toEqual([{ address: "127.0.0.1", family: 4 }]);
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

test("a listener is on loopback by its address, not by how its name begins", () => {
  expect(["127.0.0.1", "127.9.9.9", "::1", "localhost"].filter(isLoopback)).toHaveLength(4);
  expect(["0.0.0.0", "::", "127.evil.example", "10.0.0.1", "192.168.1.1"].filter(isLoopback)).toEqual([]);
});

test("a listener's host is written as a browser can open it", () => {
  expect(["0.0.0.0", "::", "::1", "10.0.0.1"].map(hostInUrl)).toEqual([
    "localhost",
    "localhost",
    "[::1]",
    "10.0.0.1",
  ]);
});

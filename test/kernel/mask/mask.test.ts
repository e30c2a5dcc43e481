import { expect, test } from "vitest";
import { createLog } from "../../../kernel/log/log.ts";
import { createMask } from "../../../kernel/mask/mask.ts";

const SECRET = 's3cr3t/"quoted"+value';

test("a known secret is hidden as it is, in a URL, in JSON and in base64", () => {
  const mask = createMask();
  mask.add(SECRET);
  const forms = [
    SECRET,
    encodeURIComponent(SECRET),
    JSON.stringify(SECRET),
    Buffer.from(SECRET).toString("base64"),
  ];
  for (const form of forms) {
    expect(mask.finds(`before ${form} after`)).toBe(true);
    expect(mask.hide(`before ${form} after`)).not.toContain(form.replaceAll('"', ""));
  }
});

test("a secret that contains another is hidden whole", () => {
  const mask = createMask();
  mask.add("abcdefgh");
  mask.add("abcdefghijkl");
  expect(mask.hide("x abcdefghijkl y")).toBe("x [secret] y");
});

test("text without a secret passes untouched, and a very short value is no secret", () => {
  const mask = createMask();
  mask.add("abc");
  expect(mask.hide("the abc of passwords and .ssh")).toBe("the abc of passwords and .ssh");
  expect(mask.finds("abc")).toBe(false);
});

test.each([false, true])(
  "no log line carries a known secret, in whatever field it hides (pretty: %s)",
  async (pretty) => {
    const lines: string[] = [];
    const mask = createMask();
    const log = createLog("debug", mask, { pretty, write: (line) => void lines.push(line) });
    mask.add(SECRET);
    const plugin = log.child("p");
    plugin.info({ nested: { header: `Bearer ${SECRET}` } }, `message ${SECRET}`);
    plugin.error({ error: new Error(`failed with ${SECRET}`) }, "it failed");
    await expect.poll(() => lines.join("")).toContain("it failed");
    expect(lines.join("")).toContain("[secret]");
    expect(lines.join("")).not.toContain("s3cr3t");
  },
);

test("a line of a plugin carries its name, and lines under the level are not written", () => {
  const lines: string[] = [];
  const log = createLog("warn", createMask(), { pretty: false, write: (line) => void lines.push(line) });
  log.child("gateway").info("quiet");
  log.child("gateway").warn("loud");
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: "warn", plugin: "gateway", message: "loud" },
  ]);
});

test("the version says when other values are known", () => {
  const mask = createMask();
  expect(mask.version).toBe(0);
  mask.add("swordfish");
  mask.add("swordfish");
  mask.add("short");
  expect(mask.version).toBe(1);
  mask.add("another-value");
  expect(mask.version).toBe(2);
});

test("a value is forgotten once everybody who added it has let go of it", () => {
  const mask = createMask();
  const [one, other] = [mask.add("swordfish"), mask.add("swordfish")];
  one();
  one();
  expect(mask.hide("a swordfish")).toBe("a [secret]");
  other();
  expect(mask.hide("a swordfish")).toBe("a swordfish");
  expect(mask.finds("swordfish")).toBe(false);
  expect(mask.version).toBe(2);
  mask.add("swordfish");
  expect(mask.hide("a swordfish")).toBe("a [secret]");
});

test("a stream hides what becomes known while it runs", () => {
  const mask = createMask();
  const { push, end } = mask.stream();
  expect(push("the sword")).toBe("the sword");
  mask.add("swordfish");
  expect(push(" and the swordf")).toBe(" and the ");
  expect(push("ish.") + end()).toBe("[secret].");
});

test("the newest lines are kept for the operator's page, with secrets hidden", () => {
  const mask = createMask();
  const log = createLog("info", mask, { pretty: false, write: () => {} });
  mask.add(SECRET);
  for (let i = 0; i < 2100; i++) log.info(`line ${i} ${SECRET}`);
  expect(log.recent()).toHaveLength(2000);
  expect(log.count()).toBe(2100);
  expect(log.count()).toBe(2100);
  expect(log.recent().at(-1)).toContain("line 2099 [secret]");
  for (let i = 0; i < 3; i++) log.info("long".repeat(250_000));
  expect(log.recent()).toHaveLength(2);
});

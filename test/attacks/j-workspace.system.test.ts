/** Paths, names and links must not lead out of a workspace, into another's, or to a name that looks like another. */
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect } from "vitest";
import { cleanPath, foldPath } from "../../plugins/workspace/path.ts";
import { attack } from "../support/attacks.ts";
import { temporaryFolder } from "../support/home.ts";
import { byPerson, openWorkspace, writing } from "../support/services/workspace.ts";

const TRICKS = [
  ...["/a/../b", "/..", "../x", "/./a", "//a", "/a//b", "/a/..", "garden:/../x", "/…/../x"],
  ...["/a\0b", "/a\nb", "/a\x1bb", "/a\u007f", "/a\u0085b", "/a\u2028b"],
  ...[
    "/a\u202etxt.exe",
    "/a\u2066b",
    "/a\u200bb",
    "/a\u200db",
    "/\ufeffa",
    "/a\u00adb",
    "/a\u{e0041}b",
    "/\u3164",
  ],
  ...["/a\\..\\b", "/a\uff0f..\uff0fb", "/\u2024\u2024/b", "/\uff0e\uff0e", "/a\uff3cb"],
  ...["/a\ud800", "/ a", "/a ", "/a/ /b", "garden:plan.md", "c:x"],
  ...[
    `/${"a".repeat(256)}`,
    `/${"é".repeat(128)}`,
    `/${"a/".repeat(51)}a`,
    `/${"abcdefghi/".repeat(103)}`,
    "x".repeat(1_000_000),
  ],
];

attack("J", "Path tricks are refused, and nothing in a path is decoded", async () => {
  const { workspace } = await openWorkspace();
  for (const path of TRICKS) {
    await expect(
      workspace.apply("ann", [writing(path, "1")], byPerson),
      path.slice(0, 40),
    ).rejects.toMatchObject({ code: "bad_path" });
    await expect(workspace.read("ann", path)).rejects.toMatchObject({ code: "bad_path" });
  }
  expect((await workspace.list("ann", "/", { deep: true })).items).toEqual([]);
  // Encoded dots are letters like any others.
  await workspace.apply("ann", [writing("/%2e%2e/%2fetc%2fpasswd", "1")], byPerson);
  expect(await workspace.find("ann", "/%2E%2E")).toBeUndefined();
  expect((await workspace.list("ann", "/")).items.map(({ path }) => path)).toEqual(["/%2e%2e"]);
});

attack("J", "Whatever is typed is refused or one path, below the root, that stays itself", () => {
  const part = fc.oneof(
    fc.string({ unit: "binary", maxLength: 12 }),
    fc.constantFrom("..", ".", "", "%2e%2e", "a", "A", "ß", "ẞ", "é", "\u0301"),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
      const typed = parts.join("/");
      let path: string;
      try {
        path = cleanPath(typed);
      } catch (error) {
        expect(error).toMatchObject({ code: "bad_path" });
        return;
      }
      expect(cleanPath(path)).toBe(path);
      expect(path).toMatch(/^(?:[a-z0-9-]+:)?\//);
      expect(
        path
          .split("/")
          .slice(1)
          .some((each) => each === ".." || each === "."),
      ).toBe(false);
      expect(foldPath(foldPath(path))).toBe(foldPath(path));
      expect(Buffer.byteLength(path)).toBeLessThanOrEqual(1024);
    }),
    { numRuns: 500 },
  );
});

attack("J", "Another user's files, versions and changes are not there, whatever id is guessed", async () => {
  const { workspace } = await openWorkspace();
  await workspace.apply("ann", [writing("/secret.txt", "ann's")], byPerson);
  const [set] = (await workspace.log("ann")).items;
  expect(await workspace.read("bob", "/secret.txt")).toBeUndefined();
  expect(await workspace.read("bob", "/secret.txt", { version: 1 })).toBeUndefined();
  expect(await workspace.versions("bob", "/secret.txt")).toEqual([]);
  await expect(workspace.undo("bob", set?.id ?? "", byPerson, "overwrite")).rejects.toMatchObject({
    code: "workspace_not_found",
  });
  await expect(workspace.restore("bob", "/secret.txt", 1, byPerson)).rejects.toMatchObject({
    code: "workspace_not_kept",
  });
  // The same content is kept for each, so that nobody learns what others have.
  await workspace.apply("bob", [writing("/guess.txt", "ann's")], byPerson);
  expect((await workspace.usage("bob")).bytes).toBe((await workspace.usage("ann")).bytes);
});

attack("J", "A folder below a mount that turns into a link while it is used leads nowhere", async () => {
  const { workspace } = await openWorkspace();
  const [folder, outside] = [temporaryFolder(), temporaryFolder()];
  writeFileSync(join(outside, "x.txt"), "outside");
  await workspace.mount({ name: "notes", folder });
  let isOver = false;
  const swapping = (async () => {
    for (let count = 0; !isOver; count++) {
      try {
        rmSync(join(folder, "d"), { recursive: true, force: true });
        if (count % 2 === 0) mkdirSync(join(folder, "d"));
        else symlinkSync(outside, join(folder, "d"));
      } catch {
        // The service made the folder in between: the next round swaps it.
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
  })();
  const seen = new Set<string>();
  for (let count = 0; count < 300; count++) {
    const written = await workspace
      .apply("ann", [writing("/notes/d/x.txt", `mine ${count}`)], byPerson)
      .catch((error) => error);
    const read = await workspace.read("ann", "/notes/d/x.txt").catch((error) => error);
    seen.add(Buffer.from(read?.data ?? "").toString());
    for (const outcome of [written, read])
      if (outcome instanceof Error) expect(outcome).toHaveProperty("code");
  }
  isOver = true;
  await swapping;
  expect([...seen].some((text) => text.includes("outside"))).toBe(false);
  expect(readFileSync(join(outside, "x.txt"), "utf8")).toBe("outside");
  expect(readdirSync(outside)).toEqual(["x.txt"]);
});

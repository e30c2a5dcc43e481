import { expect, test } from "vitest";
import { openGateway } from "../../../support/services/gateway.ts";

const file = (path: string) => `/api/memory/file?path=${encodeURIComponent(path)}`;

test("§4.1 memory is written, listed, searched, read and forgotten", async () => {
  const gateway = await openGateway();
  const written = await gateway.ask(file("notes/cats.md"), {
    method: "PUT",
    body: { text: "Cats purr loudly." },
  });
  expect(written.status).toBe(200);
  const listed = (await gateway.ask("/api/memory")).body.results;
  expect(listed).toContainEqual(expect.objectContaining({ path: "notes/cats.md", bytes: 17 }));
  const found = (await gateway.ask("/api/memory?q=purr&limit=5")).body.results;
  expect(found[0]).toMatchObject({ path: "notes/cats.md", snippet: expect.stringContaining("purr") });
  const read = (await gateway.ask(file("notes/cats.md"))).body;
  expect(read).toMatchObject({ text: "Cats purr loudly.", version: written.body.version });
  expect((await gateway.ask(file("notes/cats.md"), { method: "DELETE" })).status).toBe(204);
  expect((await gateway.ask(file("notes/cats.md"))).status).toBe(404);
  expect((await gateway.ask(file("notes/cats.md"), { method: "DELETE" })).status).toBe(404);
  expect((await gateway.ask("/api/memory/file")).status).toBe(400);
});

test("an edit of a file that has changed since it was read is refused", async () => {
  const gateway = await openGateway();
  const put = (body: object) => gateway.ask(file("notes/a.md"), { method: "PUT", body });
  const first = (await put({ text: "one" })).body.version;
  expect((await put({ text: "two", version: first })).status).toBe(200);
  const late = await put({ text: "mine", version: first });
  expect(late.status).toBe(400);
  expect(late.body.error).toMatchObject({ code: "memory_changed", param: "version" });
  expect((await gateway.ask(file("notes/a.md"))).body.text).toBe("two");
});

test("the versions of a file are listed and read, by its user only", async () => {
  const gateway = await openGateway({ variables: { MEMORY_VECTORS: "false" } });
  const token = await gateway.addUser("alice");
  const at = "/api/memory/file?path=notes/a.md";
  for (const text of ["one", "two"]) await gateway.ask(at, { method: "PUT", body: { text }, token });
  const history = "/api/memory/file/history?path=notes/a.md";
  expect((await gateway.ask(history, { token })).body.versions).toMatchObject([
    { version: 2, bytes: 3, writer: { kind: "api" } },
    { version: 1, bytes: 3, writer: { kind: "api" } },
  ]);
  expect((await gateway.ask(`${at}&version=1`, { token })).body.text).toBe("one");
  expect((await gateway.ask(`${at}&version=9`, { token })).status).toBe(404);
  expect((await gateway.ask(history)).status).toBe(404);
  expect((await gateway.ask(`${at}&version=1`)).status).toBe(404);
});

/** `/openai/v1/files` with the `openai` package, and at its limits. */
import OpenAI, { toFile } from "openai";
import { expect, test } from "vitest";
import { createStoredFiles, MIGRATIONS, OWNER } from "../../../../plugins/responses/stored/files.ts";
import { bearer, type Service, startService, TOKEN } from "../../../support/services/responses.ts";

const MIB = 1024 * 1024;

const clientOf = (service: Service, apiKey = TOKEN) =>
  new OpenAI({ apiKey, baseURL: `${service.url}/openai/v1`, maxRetries: 0 });

/** A form as `fetch` sends it. */
async function upload(
  service: Service,
  bytes: number,
  fields: Record<string, string> = {},
): Promise<Response> {
  const form = new FormData();
  form.set("file", new Blob([Buffer.alloc(bytes, "x")]), "x.bin");
  for (const [name, text] of Object.entries({ purpose: "user_data", ...fields })) form.set(name, text);
  return fetch(`${service.url}/openai/v1/files`, { method: "POST", body: form, headers: bearer(TOKEN) });
}

const tablesOf = (service: Service) => service.kernel.service("store").tables(OWNER, MIGRATIONS);

const refusal = async (answer: Response) => ({
  status: answer.status,
  ...((await answer.json()) as { error: { param: string; code: string } }).error,
});

test("openai: upload, get, read, list in pages and delete", async () => {
  const service = await startService();
  const client = clientOf(service);
  const text = "line\n".repeat(100_000);
  const made = [];
  for (const [name, purpose] of [
    ["a.txt", "user_data"],
    ["b.txt", "vision"],
    ["c.txt", "user_data"],
  ] as const)
    made.push(await client.files.create({ file: await toFile(Buffer.from(text), name), purpose }));
  const [first] = made as [OpenAI.FileObject];
  expect(first).toMatchObject({ object: "file", bytes: 500_000, filename: "a.txt", purpose: "user_data" });
  expect(first.id).toMatch(/^file-[0-9a-f]{32}$/);
  expect(await client.files.retrieve(first.id)).toEqual(first);
  expect(await (await client.files.content(first.id)).text()).toBe(text);

  const names = async (query: OpenAI.FileListParams) => {
    const found = [];
    for await (const { filename } of client.files.list(query)) found.push(filename);
    return found;
  };
  expect(await names({})).toEqual(["c.txt", "b.txt", "a.txt"]);
  expect(await names({ order: "asc", limit: 1 })).toEqual(["a.txt", "b.txt", "c.txt"]);
  expect(await names({ purpose: "user_data", limit: 1 })).toEqual(["c.txt", "a.txt"]);

  expect(await client.files.delete(first.id)).toEqual({ id: first.id, object: "file", deleted: true });
  for (const gone of [
    () => client.files.retrieve(first.id),
    () => client.files.content(first.id),
    () => client.files.delete(first.id),
    () => client.files.retrieve("file-1"),
  ])
    await expect(gone()).rejects.toMatchObject({ status: 404, code: "file_not_found" });
});

test("a file is its owner's only", async () => {
  const service = await startService();
  const { id } = await clientOf(service).files.create({
    file: await toFile(Buffer.from("mine"), "m.txt"),
    purpose: "user_data",
  });
  const eve = clientOf(service, await service.tokenOf("eve"));
  expect((await eve.files.list()).data).toEqual([]);
  for (const tried of ["retrieve", "content", "delete"] as const)
    await expect(eve.files[tried](id)).rejects.toMatchObject({ status: 404 });
  expect(await clientOf(service).files.retrieve(id)).toMatchObject({ id });
});

test("content is a download that no browser shows, whatever the file is called or says it is", async () => {
  const service = await startService();
  const form = new FormData();
  form.set("purpose", "user_data");
  form.set("file", new Blob(["<script>1</script>"], { type: "text/html" }), '../../a"\u202e;\u0001b.html');
  const answer = await fetch(`${service.url}/openai/v1/files`, {
    ...{ method: "POST", body: form, headers: bearer(TOKEN) },
  });
  const { id, filename } = (await answer.json()) as OpenAI.FileObject;
  expect(filename).toBe('a";b.html');
  const { headers } = await service.send("GET", `/openai/v1/files/${id}/content`);
  expect(headers.get("content-type")).toBe("application/octet-stream");
  expect(headers.get("content-disposition")).toBe('attachment; filename="a\\";b.html"');
  expect(headers.get("x-content-type-options")).toBe("nosniff");
  expect(headers.get("content-length")).toBe("18");
});

test("a file of RESPONSES_FILE_MB is taken; one byte more is 413", async () => {
  const service = await startService({ variables: { RESPONSES_FILE_MB: "1" } });
  expect((await upload(service, MIB)).status).toBe(200);
  for (const bytes of [MIB + 1, 3 * MIB])
    expect(await refusal(await upload(service, bytes))).toMatchObject({
      ...{ status: 413, code: "file_too_large", param: "file" },
      message: "A file may have at most 1 MiB (RESPONSES_FILE_MB).",
    });
});

test("the files of a user have RESPONSES_FILES_MB together, also where uploads come at once", async () => {
  const service = await startService({ variables: { RESPONSES_FILE_MB: "1", RESPONSES_FILES_MB: "2" } });
  const answers = await Promise.all([MIB, MIB, MIB].map((bytes) => upload(service, bytes)));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 400]);
  expect(await refusal(await upload(service, 1))).toMatchObject({
    ...{ status: 400, code: "file_quota_exceeded", param: "file" },
  });
  const client = clientOf(service);
  const [some] = (await client.files.list()).data;
  await client.files.delete(some?.id ?? "");
  expect((await upload(service, MIB)).status).toBe(200);
});

test("a user has a thousand files at most", async () => {
  const service = await startService();
  const sql = await tablesOf(service);
  await sql.transaction(async (tx) => {
    for (let at = 0; at < 999; at += 1)
      void tx.run(
        `INSERT INTO response_files (id, "user", name, mime, purpose, bytes, created_at)
         VALUES (?, 'operator', 'f', 'text/plain', 'user_data', 1, ?)`,
        ...[`file-${String(at).padStart(32, "0")}`, new Date().toISOString()],
      );
  });
  expect((await upload(service, 1)).status).toBe(200);
  expect(await refusal(await upload(service, 1))).toMatchObject({ code: "file_quota_exceeded" });
  const page = await clientOf(service).files.list({ limit: 10_000 });
  expect([page.data.length, page.has_more]).toEqual([1000, false]);
});

test("a bad field is 400 and named, and nothing is stored", async () => {
  const service = await startService();
  for (const [fields, param] of [
    [{ purpose: "mischief" }, "purpose"],
    [{ "expires_after[anchor]": "now", "expires_after[seconds]": "3600" }, "expires_after[anchor]"],
    [{ "expires_after[seconds]": "3599" }, "expires_after[seconds]"],
    [{ "expires_after[seconds]": "2592001" }, "expires_after[seconds]"],
    [{ "expires_after[seconds]": "soon" }, "expires_after[seconds]"],
  ] as const)
    expect(await refusal(await upload(service, 3, fields))).toMatchObject({ status: 400, param });
  expect(await refusal(await upload(service, 0))).toMatchObject({ status: 400, param: "file" });
  expect((await service.send("POST", "/openai/v1/files", { file: "x" })).status).toBe(415);
  for (const query of ["limit=0", "limit=10001", "order=up", "after=x", "after=a&after=b"])
    expect((await service.send("GET", `/openai/v1/files?${query}`)).status, query).toBe(400);
  expect((await clientOf(service).files.list()).data).toEqual([]);
});

test("a file with expires_after is gone when its time is over, and is then swept", async () => {
  const service = await startService();
  const client = clientOf(service);
  const file = await client.files.create({
    file: await toFile(Buffer.from("soon gone"), "s.txt"),
    purpose: "user_data",
    expires_after: { anchor: "created_at", seconds: 3600 },
  });
  expect(file.expires_at).toBe(file.created_at + 3600);
  const sql = await tablesOf(service);
  await sql.run("UPDATE response_files SET expires_at = ?", new Date(Date.now() - 1).toISOString());
  await expect(client.files.retrieve(file.id)).rejects.toMatchObject({ status: 404 });
  expect((await client.files.list()).data).toEqual([]);
  const files = await createStoredFiles(service.kernel.service("store"), MIB);
  await files.removeExpired();
  expect(await sql.all("SELECT file FROM response_file_parts")).toEqual([]);
});

test("a request can resolve a file of its user: bytes, name, and the kind that its bytes show", async () => {
  const service = await startService();
  const png = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.alloc(300_000, 7)]);
  const { id } = await clientOf(service).files.create({
    file: await toFile(png, "photo.txt"),
    purpose: "vision",
  });
  const files = await createStoredFiles(service.kernel.service("store"), MIB);
  const found = await files.resolveFile("operator", id);
  expect(found).toMatchObject({ mime: "image/png", name: "photo.txt" });
  expect(Buffer.compare(found?.data ?? new Uint8Array(), png)).toBe(0);
  expect(await files.resolveFile("eve", id)).toBeUndefined();
});

test("who is removed with their data leaves no file behind; others keep theirs", async () => {
  const service = await startService();
  const ann = clientOf(service, await service.tokenOf("ann"));
  const file = () => toFile(Buffer.from("x"), "x.txt");
  await ann.files.create({ file: await file(), purpose: "user_data" });
  await clientOf(service).files.create({ file: await file(), purpose: "user_data" });
  const removed = await service.send("DELETE", "/api/users/ann?with_data=true");
  expect(removed.status).toBeLessThan(300);
  const sql = await tablesOf(service);
  expect(await sql.all('SELECT "user" FROM response_files')).toEqual([{ user: "operator" }]);
  expect(await sql.all("SELECT file FROM response_file_parts")).toHaveLength(1);
});

test("a fifth upload at once of one user is 429, and another user is not kept waiting", async () => {
  const service = await startService();
  const pending: ReadableStreamDefaultController[] = [];
  const begin = () =>
    fetch(`${service.url}/openai/v1/files`, {
      ...{ method: "POST", duplex: "half" },
      headers: { ...bearer(TOKEN), "content-type": "multipart/form-data; boundary=b" },
      body: new ReadableStream({
        start(controller) {
          controller.enqueue(Buffer.from("--b\r\nContent-Disposition: form-data; name="));
          pending.push(controller);
        },
      }),
    } as RequestInit);
  const waiting = Array.from({ length: 4 }, begin);
  await expect.poll(async () => (await upload(service, 1)).status).toBe(429);
  const other = clientOf(service, await service.tokenOf("eve"));
  await other.files.create({ file: await toFile(Buffer.from("x"), "x"), purpose: "user_data" });
  for (const controller of pending) controller.close();
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([400, 400, 400, 400]);
});

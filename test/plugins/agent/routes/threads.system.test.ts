import { expect, test } from "vitest";
import { scriptedModel } from "../../../support/services/agent.ts";
import { openGateway, type TestGateway } from "../../../support/services/gateway.ts";

const say = async (gateway: TestGateway, message: string, thread_id?: string) =>
  (await gateway.ask("/api/chat", { method: "POST", body: { message, ...(thread_id && { thread_id }) } }))
    .body;

test("threads are listed newest first, in pages, and searched by what was said", async () => {
  const model = await scriptedModel();
  const gateway = await openGateway({ model });
  for (const word of ["apples", "pears", "plums"]) await say(gateway, `Tell me about ${word}`);
  const first = (await gateway.ask("/api/threads?limit=2")).body;
  expect(first.threads).toHaveLength(2);
  const second = (await gateway.ask(`/api/threads?limit=2&before=${encodeURIComponent(first.next)}`)).body;
  expect(second.threads).toHaveLength(1);
  expect(second.next).toBeNull();
  const found = (await gateway.ask("/api/threads?q=pears")).body.threads;
  expect(found).toHaveLength(1);
  expect(found[0].title).toContain("pears");
  expect((await gateway.ask("/api/threads?q=")).body.threads).toHaveLength(3);
  expect((await gateway.ask("/api/threads?limit=many")).status).toBe(400);
  expect((await gateway.ask("/api/threads?before=nonsense")).status).toBe(400);
});

test("a thread shows its turns oldest first, and earlier ones by its next", async () => {
  const model = await scriptedModel();
  const gateway = await openGateway({ model });
  const { thread_id } = await say(gateway, "one");
  for (const message of ["two", "three"]) await say(gateway, message, thread_id);
  const texts = ({ turns }: { turns: { input: { text: string } }[] }) => turns.map(({ input }) => input.text);
  const page = (await gateway.ask(`/api/threads/${thread_id}?limit=2`)).body;
  expect(texts(page)).toEqual(["two", "three"]);
  expect(page.thread).toMatchObject({ id: thread_id, turns: 3 });
  const earlier = (await gateway.ask(`/api/threads/${thread_id}?limit=2&before=${page.next}`)).body;
  expect(texts(earlier)).toEqual(["one"]);
  expect(earlier.next).toBeNull();
});

test("a thread is renamed and deleted, and then it is 404 everywhere", async () => {
  const model = await scriptedModel();
  const gateway = await openGateway({ model });
  const { thread_id, message_id } = await say(gateway, "one");
  const path = `/api/threads/${thread_id}`;
  const renamed = await gateway.ask(path, { method: "PATCH", body: { title: "<b>My title</b>" } });
  expect(renamed.body.title).toBe("<b>My title</b>");
  for (const body of [{ title: "" }, {}, { pinned: "yes" }])
    expect((await gateway.ask(path, { method: "PATCH", body })).status).toBe(400);
  expect((await gateway.ask(path, { method: "DELETE" })).status).toBe(204);
  expect((await gateway.ask(path)).status).toBe(404);
  expect((await gateway.ask(path, { method: "DELETE" })).status).toBe(404);
  expect((await gateway.ask(path, { method: "PATCH", body: { title: "x" } })).status).toBe(404);
  expect((await gateway.ask(`/api/turns/${message_id}`)).status).toBe(404);
});

test("a deleted thread goes into the bin, from which its user alone restores it or deletes it for good", async () => {
  const model = await scriptedModel();
  const gateway = await openGateway({ model });
  const { thread_id, message_id } = await say(gateway, "one");
  const path = `/api/threads/${thread_id}`;
  const restore = `/api/bin/${thread_id}/restore`;
  const others = await gateway.addUser("ann");
  const binned = async (token?: string) =>
    (await gateway.ask("/api/bin", token === undefined ? {} : { token })).body.threads;
  expect((await gateway.ask(restore, { method: "POST" })).status).toBe(404);
  await gateway.ask(path, { method: "DELETE" });
  expect(await binned()).toMatchObject([{ id: thread_id, title: "one" }]);
  expect(await binned(others)).toEqual([]);
  const attempts = [
    { path, method: "GET" },
    { path: `${path}/export`, method: "GET" },
    { path: `${path}/context`, method: "GET" },
    { path: `/api/turns/${message_id}`, method: "GET" },
    { path: `/api/turns/${message_id}/retry`, method: "POST" },
    { path: "/api/chat", method: "POST", body: { message: "Go on", thread_id } },
  ];
  for (const { path: to, ...how } of attempts) expect((await gateway.ask(to, how)).status, to).toBe(404);
  expect((await gateway.ask(restore, { method: "POST", token: others })).status).toBe(404);
  expect((await gateway.ask(`${path}?now=true`, { method: "DELETE", token: others })).status).toBe(404);
  expect((await gateway.ask("/api/bin", { method: "DELETE", token: others })).body).toEqual({ deleted: 0 });
  expect((await gateway.ask(restore, { method: "POST" })).body).toMatchObject({ id: thread_id });
  expect((await gateway.ask(`/api/turns/${message_id}`)).status).toBe(200);
  await gateway.ask(path, { method: "DELETE" });
  expect((await gateway.ask("/api/bin", { method: "DELETE" })).body).toEqual({ deleted: 1 });
  expect((await gateway.ask(restore, { method: "POST" })).status).toBe(404);
  const second = await say(gateway, "two");
  const secondPath = `/api/threads/${second.thread_id}`;
  expect((await gateway.ask(`${secondPath}?now=perhaps`, { method: "DELETE" })).status).toBe(400);
  expect((await gateway.ask(`${secondPath}?now=true`, { method: "DELETE" })).status).toBe(204);
  expect(await binned()).toEqual([]);
});

test("pinned threads come first, in pages too, and keep their place until they are unpinned", async () => {
  const model = await scriptedModel();
  const gateway = await openGateway({ model });
  const ids: string[] = [];
  for (const word of ["a", "b", "c", "d", "e"]) ids.push((await say(gateway, word)).thread_id);
  const pin = async (id: string | undefined, pinned: boolean) =>
    (await gateway.ask(`/api/threads/${id}`, { method: "PATCH", body: { pinned } })).body;
  expect(await pin(ids[0], true)).toMatchObject({ pinned: true, title: "a" });
  await pin(ids[2], true);
  const listed = async (limit: number, query = "") => {
    const titles: string[] = [];
    for (let next = ""; ; ) {
      const { body } = await gateway.ask(`/api/threads?limit=${limit}${query}${next}`);
      titles.push(...body.threads.map(({ title }: { title: string }) => title));
      if (body.next === null) return titles.join("");
      next = `&before=${encodeURIComponent(body.next)}`;
    }
  };
  for (const limit of [1, 2, 3, 5, 50]) expect(await listed(limit)).toBe("caedb");
  expect(await listed(1, "&q=a")).toBe("a");
  await pin(ids[2], false);
  expect(await listed(2)).toBe("aedcb");
  expect(
    (await gateway.service.service("threads").list("operator")).items.map(({ title }) => title).join(""),
  ).toBe("edcba");
  const token = await gateway.addUser("ann");
  const foreign = { method: "PATCH", body: { pinned: false }, token };
  expect((await gateway.ask(`/api/threads/${ids[0]}`, foreign)).status).toBe(404);
});

test("a thread is downloaded as a file, for its user alone", async () => {
  const model = await scriptedModel();
  const gateway = await openGateway({ model });
  model.script({ text: "Grüße" });
  const { thread_id } = await say(gateway, 'Привет "an" alle\r\nSet-Cookie: x');
  const path = `/api/threads/${thread_id}/export`;
  const markdown = await gateway.ask(path);
  expect(markdown.headers.get("content-type")).toBe("text/markdown; charset=utf-8");
  expect(markdown.headers.get("content-disposition")).toBe(
    `attachment; filename="?????? an alle Set-Cookie x.md"; filename*=UTF-8''%D0%9F%D1%80%D0%B8%D0%B2%D0%B5%D1%82%20an%20alle%20Set-Cookie%20x.md`,
  );
  expect(markdown.text).toContain("Grüße");
  const json = await gateway.ask(`${path}?format=json`);
  expect(json.body.turns).toEqual((await gateway.ask(`/api/threads/${thread_id}`)).body.turns);
  expect((await gateway.ask(`${path}?format=pdf`)).status).toBe(400);
  const token = await gateway.addUser("ann");
  expect((await gateway.ask(path, { token })).status).toBe(404);
});

test("an attachment is for its user alone; what is no image by its bytes is never shown as what it says it is", async () => {
  const model = await scriptedModel();
  const gateway = await openGateway({ model, variables: { MODEL_INPUTS: "text,image,file" } });
  const script = Buffer.from("<script>alert(1)</script>");
  const png = Buffer.from("\x89PNG\r\n\x1a\n and so on", "latin1");
  const attachment = (id: string, mime: string, data: Buffer) =>
    ({ id, kind: "file", mime, name: `${id}.html`, size: data.length }) as const;
  const turn = await gateway.service.service("agent").run({
    user: "operator",
    channel: "test",
    input: {
      type: "message",
      text: "Look",
      attachments: [attachment("a", "text/html", script), attachment("b", "text/html", png)],
    },
    attached: [
      { id: "a", data: script },
      { id: "b", data: png },
    ],
  });
  await turn.record;
  const [page, image] = await Promise.all(["a", "b"].map((id) => gateway.ask(`/api/attachments/${id}`)));
  expect(page?.headers.get("content-type")).toBe("application/octet-stream");
  expect(page?.headers.get("content-disposition")).toMatch(/^attachment/);
  expect(page?.headers.get("x-content-type-options")).toBe("nosniff");
  expect(image?.headers.get("content-type")).toBe("image/png");
  const token = await gateway.addUser("eve");
  expect((await gateway.ask("/api/attachments/b", { token })).status).toBe(404);
});

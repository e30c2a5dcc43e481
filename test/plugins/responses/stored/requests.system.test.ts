/** Requests as rows, on both engines. */
import { randomUUIDv7 } from "node:crypto";
import { expect, test } from "vitest";
import { createRequests, type TakenRequest } from "../../../../plugins/responses/stored/requests.ts";
import { describeEngines } from "../../../support/processes/engines.ts";

const DAY_MILLIS = 24 * 60 * 60 * 1000;

const taken = (more: Partial<TakenRequest> = {}): TakenRequest => ({
  id: randomUUIDv7(),
  user: "ann",
  thread: randomUUIDv7(),
  createdAt: new Date().toISOString(),
  echo: {} as TakenRequest["echo"],
  input: [],
  ...more,
});

describeEngines("a key", (_engine, fresh) => {
  test("is the first request's, also when two come at the same moment on two nodes", async () => {
    const place = await fresh();
    const nodes = [await createRequests(await place.open()), await createRequests(await place.open())];
    const repeat = { key: "k", digest: "d" };
    const asked = nodes.flatMap(({ requests, sql }) =>
      [1, 2, 3].map(async () => {
        const request = taken();
        return { request, added: await sql.transaction((tx) => requests.add(tx, request, repeat)) };
      }),
    );
    const added = (await Promise.all(asked)).filter(({ added }) => added);
    expect(added).toHaveLength(1);
    for (const { requests } of nodes)
      expect(await requests.findRepeated("ann", "k")).toMatchObject({
        id: added[0]?.request.id,
        digest: "d",
      });
    const [{ requests, sql } = await createRequests(await place.open())] = nodes;
    expect(await sql.transaction((tx) => requests.add(tx, taken({ user: "eve" }), repeat))).toBe(true);
    expect(await sql.transaction((tx) => requests.add(tx, taken(), undefined))).toBe(true);
  });

  test("holds for a day, and the request that came with it stays after that", async () => {
    const { requests, sql } = await createRequests(await (await fresh()).open());
    const add = (request: TakenRequest) =>
      sql.transaction((tx) => requests.add(tx, request, { key: "k", digest: "d" }));
    const old = taken({ createdAt: new Date(Date.now() - DAY_MILLIS - 1000).toISOString() });
    expect(await add(old)).toBe(true);
    expect(await requests.findRepeated("ann", "k")).toBeUndefined();
    const next = taken();
    expect(await add(next)).toBe(true);
    expect(await requests.findRepeated("ann", "k")).toMatchObject({ id: next.id });
    expect(await requests.find("ann", old.id)).toMatchObject({ id: old.id });
  });
});

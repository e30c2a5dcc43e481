/** Requests as rows, on both engines. */
import { randomUUIDv7 } from "node:crypto";
import { expect, test } from "vitest";
import {
  createRequests,
  type RepeatKey,
  type TakenRequest,
  textsOf,
} from "../../../../plugins/responses/stored/requests.ts";
import { describeEngines } from "../../../support/processes/engines.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

const taken = (more: Partial<TakenRequest> = {}): TakenRequest => ({
  id: randomUUIDv7(),
  user: "ann",
  thread: randomUUIDv7(),
  createdAt: new Date().toISOString(),
  echo: {} as TakenRequest["echo"],
  input: [],
  ...more,
});

type Opened = Awaited<ReturnType<typeof createRequests>>;

async function add({ requests, sql }: Opened, request: TakenRequest, repeat?: RepeatKey): Promise<boolean> {
  const texts = await textsOf(request.echo, request.input);
  return sql.transaction((tx) => requests.add(tx, request, texts, repeat));
}

describeEngines("a key", (_engine, fresh) => {
  test("is the first request's, also when two come at the same moment on two nodes", async () => {
    const place = await fresh();
    const nodes = [await createRequests(await place.open()), await createRequests(await place.open())];
    const repeat = { key: "k", digest: "d" };
    const asked = nodes.flatMap((node) =>
      [1, 2, 3].map(async () => {
        const request = taken();
        return { request, added: await add(node, request, repeat) };
      }),
    );
    const added = (await Promise.all(asked)).filter(({ added }) => added);
    expect(added).toHaveLength(1);
    for (const { requests } of nodes)
      expect(await requests.findRepeated("ann", "k")).toMatchObject({
        id: added[0]?.request.id,
        digest: "d",
      });
    const another = await createRequests(await place.open());
    expect(await add(another, taken({ user: "eve" }), repeat)).toBe(true);
    expect(await add(another, taken())).toBe(true);
  });

  test("holds for a day, and the request that came with it stays after that", async () => {
    const opened = await createRequests(await (await fresh()).open());
    const { requests } = opened;
    const repeat = { key: "k", digest: "d" };
    const old = taken({ createdAt: new Date(Date.now() - DAY_MS - 1000).toISOString() });
    expect(await add(opened, old, repeat)).toBe(true);
    expect(await requests.findRepeated("ann", "k")).toBeUndefined();
    const next = taken();
    expect(await add(opened, next, repeat)).toBe(true);
    expect(await requests.findRepeated("ann", "k")).toMatchObject({ id: next.id });
    expect(await requests.find("ann", old.id)).toMatchObject({ id: old.id });
  });
});

import { expect, test } from "vitest";
import { createCheckedFetch } from "../../../host/broker/checked-fetch.ts";
import { openUpstream } from "../../support/servers/upstream.ts";
import { afterThisTest } from "../../support/undo.ts";

test("a server that floods its stream with events is read at a pace that leaves time for others", async () => {
  const chunk = "data: {}\n\n".repeat(1000);
  const upstream = await openUpstream((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const flood = () => {
      while (response.writable && response.write(chunk)) {}
    };
    response.on("drain", flood);
    flood();
  });
  afterThisTest(upstream.close);
  const checked = createCheckedFetch({ privateHosts: new Set([`127.0.0.1:${upstream.port}`]) });
  afterThisTest(() => checked.close());
  const signal = AbortSignal.timeout(1500);
  const response = await checked(`http://127.0.0.1:${upstream.port}/`, { signal }, { maxBytes: 2 ** 20 });
  let bytes = 0;
  const reading = (async () => {
    for await (const part of response.body ?? []) bytes += part.length;
  })();
  await expect(reading).rejects.toThrow();
  expect(bytes).toBeGreaterThan(0);
  // About a thousand events a second, what may come at once, and what one read brings.
  expect(bytes / 10).toBeLessThan(20_000);
});

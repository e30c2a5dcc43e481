import { expect } from "vitest";
import type { InputItem } from "../../../../plugins/responses/parse/items.ts";
import { parseOpen } from "../../../../plugins/responses/parse/open.ts";
import { createRequests } from "../../../../plugins/responses/stored/requests.ts";
import { createTurnLocations } from "../../../../plugins/responses/stored/turn-location.ts";
import { createIntake } from "../../../../plugins/responses/turn/intake.ts";
import { testOnSqlite } from "../../../support/run/engine.ts";
import { startService, storeSize } from "../../../support/services/responses.ts";

testOnSqlite(
  "a thousand replayed rounds are one thread, and the last cost the store what the first did",
  async () => {
    const { kernel } = await startService({ variables: { LOG_LEVEL: "fatal" } });
    const { requests, sql } = await createRequests(kernel.service("store"));
    const threads = kernel.service("threads");
    // It begins behind the parsers, which have nothing to do with it.
    const agent = kernel.service("agent");
    const jobs = kernel.service("jobs");
    const intake = createIntake({
      agent,
      jobs,
      threads,
      requests,
      locations: createTurnLocations({ agent, jobs, threads, requests }),
      sql,
      pageOf: () => "",
      replay: true,
      attachments: {
        remote: { read: () => Promise.reject() },
        resolveFile: async () => undefined,
        textOf: () => Promise.reject(),
      },
      unseal: () => undefined,
    });
    const request = parseOpen({ model: "any", input: "Hi", truncation: "auto" }, true);
    const items: InputItem[] = [];
    const sizes = [await storeSize(sql)];
    for (let round = 1; round <= 1000; round++) {
      items.push({ type: "message", role: "user", text: `This is round ${round}` });
      const { running } = await intake.take({ id: "ann", role: "user" }, { ...request, items }, undefined);
      const record = await running?.record;
      const said = record?.items.findLast((item) => item.type === "message" && item.role === "assistant");
      expect(said).toHaveProperty("text");
      items.push({ type: "message", role: "assistant", text: said?.type === "message" ? said.text : "" });
      if (round % 250 === 0) sizes.push(await storeSize(sql));
    }
    expect(await threads.list("ann")).toMatchObject({ items: [{ turns: 1000 }] });
    const grown = sizes.slice(1).map((size, index) => size - (sizes[index] as number));
    expect(Math.max(...grown)).toBeLessThan(2 * Math.min(...grown));
  },
);

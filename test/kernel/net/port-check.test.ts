import { expect, test } from "vitest";
import { examinePort } from "../../../kernel/net/findings.ts";
import { listen } from "../../../kernel/net/listen.ts";
import { afterThisTest } from "../../support/undo.ts";

test("a port that the service of this home holds is no failure, also while it starts", async () => {
  const variables = { hostVariable: "H", portVariable: "P" };
  const listener = await listen(() => {}, { host: "127.0.0.1", port: 0, ...variables });
  afterThisTest(() => listener.close(0));
  const port = Number(new URL(listener.url).port);
  const examine = (running: string | undefined) =>
    examinePort({ name: "gateway", host: "127.0.0.1", port, variables: "GATEWAY_PORT", running });
  expect(await examine(undefined)).toMatchObject({ ok: false });
  expect(await examine("http://127.0.0.1:1")).toMatchObject({ ok: false });
  expect(await examine(listener.url)).toMatchObject({ ok: true, detail: expect.stringContaining("running") });
  expect(await examine("")).toMatchObject({ ok: true, detail: expect.stringContaining("starting") });
});

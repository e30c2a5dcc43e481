import { once } from "node:events";
import type { AddressInfo } from "node:net";
import Koa from "koa";
import { expect, test } from "vitest";
import { isMarked, markBrowser } from "../../../host/routes/sign-in-cookie.ts";
import { afterThisTest } from "../../support/undo.ts";

test("the browser that began a sign-in is known when it comes back, with that sign-in's state alone", async () => {
  const app = new Koa();
  app.use((context) => {
    if (context.path === "/begin")
      markBrowser(context, "https://id.example/authorize?state=one", "https://chat.example/oauth/callback");
    context.body = String(isMarked(context, new URL(context.url, "https://chat.example")));
  });
  const server = app.listen(0, "127.0.0.1");
  await once(server, "listening");
  afterThisTest(async () => void (await new Promise((resolve) => server.close(resolve))));
  const ask = (path: string, cookie = "") =>
    fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`, { headers: { cookie } });
  const given = (await ask("/begin")).headers.get("set-cookie") ?? "";
  expect(given).toMatch(/; Path=\/oauth\/callback; HttpOnly; SameSite=Lax; Max-Age=600; Secure$/);
  const [cookie = ""] = given.split(";");
  expect(await (await ask("/oauth/callback?state=one", cookie)).text()).toBe("true");
  expect(await (await ask("/oauth/callback?state=two", cookie)).text()).toBe("false");
  expect(await (await ask("/oauth/callback?state=one")).text()).toBe("false");
});

/** The baseline in a process of its own: a bare Koa route that parses JSON and answers the same JSON. */
import type { AddressInfo } from "node:net";
import Router from "@koa/router";
import Koa from "koa";
import { koaBody } from "koa-body";

const app = new Koa();
const router = new Router();
router.post("/echo", koaBody(), (context) => {
  context.body = context.request.body;
});
app.use(router.routes());
const server = app.listen(0, "127.0.0.1", () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/echo` });
});
process.on("disconnect", () => process.exit());

/** Loaded into a process with `--import …/in-process.ts?<socket>`: the test that started it moves its clock over that socket. */
import { createServer } from "node:net";
import { moveTime } from "./moved-time.ts";

const socket = decodeURIComponent(new URL(import.meta.url).search.slice(1));
const { advance } = moveTime(() => {});
createServer((connection) => {
  connection.on("data", (data) => {
    void advance(Number(data)).then(() => connection.end("done"));
  });
  connection.on("error", () => {});
})
  .listen(socket)
  .unref();

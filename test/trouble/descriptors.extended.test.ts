/** A service that may open no more files and connections. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { expect, test } from "vitest";
import { serveUnderAttack } from "../support/processes/attacked.ts";
import { describeWhere } from "../support/run/needs.ts";
import { afterThisTest } from "../support/undo.ts";

const PRLIMIT = "/usr/bin/prlimit";
const ENOUGH = 4096;

const limit = (pid: number, files: number) =>
  void execFileSync(PRLIMIT, ["--pid", String(pid), `--nofile=${files}:${ENOUGH}`]);

/** Connections that are left open and say nothing. */
function idle(port: number, count: number): readonly Socket[] {
  const sockets = Array.from({ length: count }, () => connect(port, "127.0.0.1").on("error", () => {}));
  afterThisTest(() => {
    for (const socket of sockets) socket.destroy();
  });
  return sockets;
}

describeWhere(existsSync(PRLIMIT), "prlimit, of util-linux")("no descriptor left", () => {
  test("costs those who come then, not who is there, and is over when there are some", async () => {
    const { served, send } = await serveUnderAttack(afterThisTest);
    served.model.otherwise({ text: "Answered." });
    const chat = () => send("POST", "/api/chat", { message: "hello" });
    expect((await chat()).json).toMatchObject({ status: "completed" });
    const { pid } = served.process;
    limit(pid, readdirSync(`/proc/${pid}/fd`).length + 4);
    const sockets = idle(Number(new URL(served.url).port), 40);
    await expect.poll(() => sockets.some((socket) => socket.destroyed || socket.closed)).toBe(true);
    // Whatever it is, it ends: in an answer, in a refusal in words, or in a connection that is closed.
    await chat().catch((error: Error) => expect(error.message).toContain("fetch failed"));
    for (const socket of sockets) socket.destroy();
    limit(pid, ENOUGH);
    await expect.poll(async () => (await chat().catch(() => undefined))?.json?.status).toBe("completed");
    expect(served.process.pid).toBe(pid);
  });
});

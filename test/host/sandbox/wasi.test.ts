import { expect, test } from "vitest";
import { createWasi } from "../../../host/sandbox/inside/wasi/wasi.ts";

interface Stream {
  checkWrite(): bigint;
  write(bytes: Uint8Array): void;
  blockingWriteAndFlush(bytes: Uint8Array): void;
}

test.each(["write", "blockingWriteAndFlush"] as const)(
  "%s takes what was permitted, and traps on a byte more",
  (method) => {
    const written: number[] = [];
    const { interfaces } = createWasi(
      (_, bytes) => written.push(bytes.byteLength),
      async () => ({ ok: false, error: "nobody is there" }),
    );
    const { getStdout } = interfaces["wasi:cli/stdout"] as { getStdout(): Stream };
    const stream = getStdout();
    const permitted = Number(stream.checkWrite());
    stream[method](new Uint8Array(permitted));
    expect(() => stream[method](new Uint8Array(permitted + 1))).toThrow("longer than was permitted");
    expect(written).toEqual([permitted]);
  },
);

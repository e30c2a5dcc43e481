/** Compares the globals bundled into QuickJS components with Node's. */
import { join } from "node:path";
import { build } from "esbuild";
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";

interface Globals {
  readonly TextEncoder: typeof TextEncoder;
  readonly TextDecoder: typeof TextDecoder;
  readonly console: Record<"debug" | "log" | "info" | "warn" | "error", (...values: unknown[]) => void>;
  readonly logged: readonly [level: string, message: string][];
}

const FILE = join(import.meta.dirname, "..", "..", "wit", "quickjs-globals.js");
let globals: Globals;

beforeAll(async () => {
  const random = Math.random;
  const { outputFiles } = await build({
    stdin: {
      contents: `export * from ${JSON.stringify(FILE)}; export { logged } from "postern:tool/host@0.1.0";`,
      resolveDir: import.meta.dirname,
    },
    bundle: true,
    format: "esm",
    write: false,
    plugins: [
      {
        name: "host",
        setup({ onResolve, onLoad }) {
          onResolve({ filter: /^postern:/ }, ({ path }) => ({ path, namespace: "host" }));
          onLoad({ filter: /./, namespace: "host" }, () => ({
            contents: "export const logged = []; export const log = (...line) => void logged.push(line);",
          }));
        },
      },
    ],
  });
  const code = Buffer.from(outputFiles[0]?.contents ?? []).toString("base64");
  globals = await import(/* @vite-ignore */ `data:text/javascript;base64,${code}`);
  Math.random = random;
});

const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 60 }),
  fc.string({ unit: "binary" }).map((text) => new TextEncoder().encode(text)),
  // Bytes that start, continue and break characters, close together.
  fc
    .array(fc.constantFrom(0x41, 0x80, 0xa0, 0xbf, 0xc2, 0xe0, 0xed, 0xef, 0xbb, 0xf0, 0xf4, 0xf5, 0xff), {
      maxLength: 12,
    })
    .map((list) => Uint8Array.from(list)),
);

test("any bytes decode as in Node", () => {
  fc.assert(
    fc.property(bytes, fc.boolean(), (input, ignoreBOM) => {
      const options = { ignoreBOM };
      expect(new globals.TextDecoder("utf-8", options).decode(input)).toBe(
        new TextDecoder("utf-8", options).decode(input),
      );
    }),
    { numRuns: 3000 },
  );
});

test("with fatal, it rejects exactly the bytes that Node rejects", () => {
  const refuses = (Decoder: typeof TextDecoder, input: Uint8Array) => {
    try {
      new Decoder("utf-8", { fatal: true }).decode(input);
      return false;
    } catch {
      return true;
    }
  };
  fc.assert(
    fc.property(bytes, (input) => {
      expect(refuses(globals.TextDecoder, input)).toBe(refuses(TextDecoder, input));
    }),
    { numRuns: 3000 },
  );
});

test("any text encodes as in Node, including lone surrogates", () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("\ud800", "a\udc00b", "")),
      (text) => {
        expect(new globals.TextEncoder().encode(text)).toEqual(new TextEncoder().encode(text));
      },
    ),
    { numRuns: 1000 },
  );
});

test("console lines become log lines", () => {
  globals.console.log("found", { count: 2 }, undefined);
  globals.console.error("no");
  expect(globals.logged).toEqual([
    ["info", 'found {"count":2} undefined'],
    ["error", "no"],
  ]);
});

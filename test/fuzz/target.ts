/** What is fuzzed: how its inputs are made, and what has to hold for each of them. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";

export interface Target {
  readonly name: string;
  /** How many inputs `npm run test:all` tries. */
  readonly runs: number;
  /** Tries what was found before, then as many new inputs. Returns the smallest that failed. */
  fuzz(runs: number, seed: number): Promise<Found | undefined>;
}

export interface Found {
  readonly input: unknown;
  readonly error: unknown;
}

interface Definition<Case> extends Pick<Target, "name" | "runs"> {
  /** Made of what JSON can hold, so that a found one can be kept. */
  readonly cases: fc.Arbitrary<Case>;
  open(): Promise<{
    /** Throws where the case shows a fault. */
    check(input: Case): Promise<void>;
    close(): Promise<void>;
  }>;
}

const CORPUS = join(import.meta.dirname, "../corpus");

export function defineTarget<Case>({ name, runs: usual, cases, open }: Definition<Case>): Target {
  return {
    name,
    runs: usual,
    async fuzz(runs, seed) {
      const { check, close } = await open();
      try {
        for (const input of keptInputs(name))
          try {
            await check(input as Case);
          } catch (error) {
            return { input, error };
          }
        const result = await fc.check(fc.asyncProperty(cases, check), { numRuns: runs, seed });
        return result.failed ? { input: result.counterexample?.[0], error: result.errorInstance } : undefined;
      } finally {
        await close();
      }
    },
  };
}

export function keptInputs(name: string): readonly unknown[] {
  const folder = join(CORPUS, name);
  const files = existsSync(folder) ? readdirSync(folder).sort() : [];
  return files.map((file) => JSON.parse(readFileSync(join(folder, file), "utf8")));
}

/** Every later run begins with it. Returns the file's path from the repository. */
export function keep(name: string, input: unknown): string {
  const text = `${JSON.stringify(input, undefined, 2)}\n`;
  const file = `${createHash("sha256").update(text).digest("hex").slice(0, 12)}.json`;
  mkdirSync(join(CORPUS, name), { recursive: true });
  writeFileSync(join(CORPUS, name, file), text);
  return `test/corpus/${name}/${file}`;
}

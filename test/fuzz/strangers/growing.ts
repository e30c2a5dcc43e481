/** Fuzzing that grows its corpus: it changes inputs a little, and goes on from each that brought a new answer. */
import { keptInputs, type Target } from "../target.ts";
import { createRandom, mutateBytes, mutateJson, type Random } from "./mutation.ts";

interface Door<Input> {
  readonly name: string;
  readonly runs: number;
  open(): Promise<{
    readonly seeds: readonly Input[];
    /** Returns what came of it, in words; throws where something got past the door. */
    answer(input: Input): Promise<string>;
    close(): Promise<void>;
  }>;
}

type Mutate<Input> = (input: Input, other: Input, random: Random) => Input;

const MAX_CORPUS = 500;
const MAX_CHANGES = 4;

export const jsonDoor = (door: Door<unknown>): Target =>
  growing(
    door,
    mutateJson,
    (kept) => kept,
    (input) => input,
  );

/** Bytes are kept in base64. */
export const bytesDoor = (door: Door<Buffer>): Target =>
  growing(
    door,
    mutateBytes,
    (kept) => Buffer.from(String(kept), "base64"),
    (input) => input.toString("base64"),
  );

function growing<Input>(
  { name, runs, open }: Door<Input>,
  mutate: Mutate<Input>,
  read: (kept: unknown) => Input,
  write: (input: Input) => unknown,
): Target {
  return {
    name,
    runs,
    async fuzz(count, seed) {
      const { seeds, answer, close } = await open();
      const random = createRandom(seed);
      const any = (from: readonly Input[]) => from[Math.floor(random() * from.length)] as Input;
      const sound = [...seeds, ...keptInputs(name).map(read)];
      const corpus = [...sound];
      const known = new Set<string>();
      try {
        for (let at = 0; at < sound.length + count; at++) {
          let input = sound[at] ?? any(corpus);
          const changes = at < sound.length ? 0 : 1 + Math.floor(random() * MAX_CHANGES);
          for (let change = 0; change < changes; change++) input = mutate(input, any(corpus), random);
          try {
            const said = shapeOf(await answer(input));
            if (!known.has(said) && corpus.length < MAX_CORPUS) corpus.push(input);
            known.add(said);
          } catch (error) {
            return { input: write(input), error };
          }
        }
        return undefined;
      } finally {
        await close();
      }
    },
  };
}

/** An answer without what it quotes of the input. */
function shapeOf(answer: string): string {
  return answer
    .slice(0, 2000)
    .replace(/"[^"]*"|`[^`]*`|\d+/g, "…")
    .slice(0, 300);
}

/** One bench in a process of its own: what others left in memory would slow its collections, and the start of every process. */
import { enableCompileCache } from "node:module";
import type { Bench, Figure } from "./bench.ts";

export type Told = { readonly progress: string } | { readonly figures: readonly Figure[] };

// As the service itself does when it starts.
enableCompileCache();

const tell = (told: Told, then: () => void = () => {}): void => void process.send?.(told, then);

const { bench } = (await import(process.argv[2] as string)) as { bench: Bench };
const figures = await bench.run((progress) => tell({ progress }));
tell({ figures }, () => process.exit());

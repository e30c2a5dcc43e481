/** One request must not stop everybody: what would keep the service busy for minutes is answered at once. */
import { beforeAll, expect } from "vitest";
import { attack } from "../support/attacks.ts";
import { type Attacked, serveUnderAttack } from "../support/processes/attacked.ts";
import { afterThisFile } from "../support/undo.ts";

const later = afterThisFile();
let service: Attacked;

beforeAll(async () => {
  service = await serveUnderAttack(later);
});

/** 4 KB in which each definition refers to the next one twice, or often: followed, there are 2 to the 40th of them. */
function fanningSchema(keyword: "allOf" | "anyOf" | "properties") {
  const names = Array.from({ length: 40 }, (_, at) => `d${at}`);
  const referTo = (name: string) => ({ $ref: `#/$defs/${name}` });
  const definitionOf = (next: string | undefined) => {
    if (next === undefined) return { type: "object" };
    if (keyword === "properties") return { properties: { one: referTo(next), two: referTo(next) } };
    return { [keyword]: [referTo(next), referTo(next)] };
  };
  const $defs = Object.fromEntries(names.map((name, at) => [name, definitionOf(names[at + 1])]));
  return { type: "object", $defs, ...definitionOf("d0") };
}

attack(1, "A function's schema that fans out is carried to the model and back, never run", async () => {
  for (const keyword of ["allOf", "anyOf", "properties"] as const) {
    const schema = { ...fanningSchema(keyword), patternProperties: { "^(a+)+$": {} } };
    const value = { ["a".repeat(40)]: 1, one: { two: {} } };
    const calls = Array.from({ length: 40 }, () => ({ name: "fan_out", arguments: value }));
    service.served.model.script({ calls });
    const answer = await service.send("POST", "/v1/responses", {
      model: "reborn",
      input: "call it",
      tools: [{ type: "function", name: "fan_out", parameters: schema }],
    });
    expect(answer).toMatchObject({ status: 200, json: { status: "completed" } });
    const call = answer.json.output.at(-1);
    expect(call).toMatchObject({ type: "function_call", name: "fan_out" });
    expect(JSON.parse(call.arguments)).toEqual(value);
    expect(answer.json.tools[0].parameters).toEqual(schema);
  }
});

attack(2, "A message full of spaces after a bracket is answered, and so is everybody else", async () => {
  const message = `hi <${" ".repeat(400_000)}x`;
  const answers = await Promise.all([
    service.send("POST", "/api/chat", { message }),
    service.send("POST", "/v1/responses", { model: "reborn", input: message }),
    service.send("GET", "/health"),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
});

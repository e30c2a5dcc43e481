/** Values checked against strangers' schemas in a process of its own, against a clock and within bounds of memory. */
import { Fault, type JsonSchema } from "../../kernel/plugin.ts";
import type { Tools } from "../services.ts";
import type { Pool } from "./pool.ts";
import type { Component } from "./processes.ts";

export type CheckJson = NonNullable<Tools["checkJson"]>;

const MAX_SCHEMA_LENGTH = 256 * 1024;
const MAX_VALUE_LENGTH = 1 << 20;
/** A process keeps what it has compiled: after so many schemas a new one takes its place. */
const SCHEMAS_PER_PROCESS = 64;
const MEMORY_BYTES = 64 * 2 ** 20;
const DRAFTS = /draft-07|2020-12/;
/** One may have gone down with another's schema. */
const WORTH_ANOTHER_TRY = new Set(["worker_lost", "out_of_memory"]);
/** A check is bounded by itself: where its time runs out all the same, it has waited for others. */
const NOT_THE_SCHEMA = new Set(["unavailable", "cancelled", "timeout", "worker_lost"]);

export function createJsonCheck(pool: Pick<Pool, "validate" | "forget">): CheckJson {
  let number = 0;
  let component = emptyComponent(number);
  let seen = new Set<string>();

  function processFor(schema: string): Component {
    if (seen.size >= SCHEMAS_PER_PROCESS && !seen.has(schema)) {
      pool.forget(component);
      component = emptyComponent(++number);
      seen = new Set();
    }
    seen.add(schema);
    return component;
  }

  return async (given, value, { signal }) => {
    const schema = writeSchema(given);
    const text = writeValue(value);
    if (text === undefined) return ["the answer is nested too deeply"];
    if (text.length > MAX_VALUE_LENGTH) return [`the answer is longer than ${MAX_VALUE_LENGTH} characters`];
    const check = () => pool.validate(processFor(schema), schema, text, signal);
    let checked = await check();
    if (!checked.ok && WORTH_ANOTHER_TRY.has(checked.code)) checked = await check();
    if (checked.ok) return checked.mistakes;
    signal.throwIfAborted();
    if (NOT_THE_SCHEMA.has(checked.code)) {
      const message = "The JSON Schema cannot be checked right now. Try again in a few seconds.";
      throw new Fault("unavailable", "schema_check_unavailable", message, { retryAfterSecs: 5 });
    }
    throw unusable(checked.code === "bad_schema" ? checked.message : "it takes too much memory");
  };
}

function writeValue(value: unknown): string | undefined {
  try {
    return JSON.stringify(value) ?? "null";
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function writeSchema({ $schema, ...schema }: JsonSchema): string {
  // Other drafts are close enough to be read as the newest.
  const isKnown = typeof $schema === "string" && DRAFTS.test($schema);
  const text = writeValue(isKnown ? { $schema, ...schema } : schema);
  if (text === undefined) throw unusable("it is nested too deeply");
  if (text.length > MAX_SCHEMA_LENGTH) throw unusable(`it is longer than ${MAX_SCHEMA_LENGTH} characters`);
  return text;
}

function unusable(why: string): Fault {
  return new Fault("invalid", "invalid_json_schema", `The JSON Schema cannot be used: ${why}.`, {
    param: "schema",
  });
}

/** There is no tool in the process, only what checks. */
function emptyComponent(number: number): Component {
  return {
    key: `schemas of answers, ${number}`,
    sha256: "",
    memoryBytes: MEMORY_BYTES,
    load: async () => ({ modules: [], glue: "", restorable: false, plain: true }),
    verify: async () => {},
  };
}

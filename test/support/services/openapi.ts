/** Holds what the service really answers against its own OpenAPI document. */
import { Ajv, type ValidateFunction } from "ajv";
import formats from "ajv-formats";
import { SHIPPED } from "./migrated-store.ts";

export interface JsonAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

export interface Checks {
  /** Throws for an answer that the document does not describe. */
  answer(method: string, target: string, answer: JsonAnswer): void;
  frame(frame: unknown): void;
  /** An event of a stream that a response was answered with, by the name of its schema. */
  event(event: unknown, name: "ResponseEvent" | "OpenResponseEvent"): void;
  /** A chunk of a completion. */
  chunk(chunk: unknown): void;
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it has checked
type Document = any;

const made = new Map<string, Checks>();
const described = new Map<string, Promise<Checks>>();

/** Hundreds of services have the same document, and compiling its schemas takes longer than most tests of one. */
function checksFor(document: string): Checks {
  const checks = made.get(document) ?? createChecks(JSON.parse(document));
  made.set(document, checks);
  return checks;
}

/** Writing the document takes a while too: services of the same shipped plugins and settings have the same. */
export function checksOf(
  plugins: readonly { readonly name: string }[],
  settings: Readonly<Record<string, string | undefined>>,
  read: () => Promise<string>,
): Promise<Checks> {
  // Each test has another server for its model, which the document does not know.
  const { MODEL_BASE_URL: _, ...others } = settings;
  const key = JSON.stringify([plugins.map(({ name }) => name), others]);
  const checks = described.get(key) ?? read().then(checksFor);
  if (plugins.every(({ name }) => SHIPPED.has(name))) described.set(key, checks);
  return checks;
}

function createChecks(document: Document): Checks {
  const ajv = new Ajv({ strict: false });
  formats.default(ajv);
  ajv.addSchema(document, "api");
  const compiled = new Map<string, ValidateFunction>();
  const check = (pointer: string, value: unknown, what: string): void => {
    let validate = compiled.get(pointer);
    if (validate === undefined) {
      validate = ajv.compile({ $ref: `api#${pointer}` });
      compiled.set(pointer, validate);
    }
    if (!validate(value))
      throw new Error(
        `${what} does not fit the OpenAPI document: ${ajv.errorsText(validate.errors)}\n${JSON.stringify(value)}`,
      );
  };
  const pointerPart = (part: string) => encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"));
  const patterns = Object.keys(document.paths).map((path) => ({
    path,
    pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`),
  }));
  return {
    frame: (frame) => check("/components/schemas/SocketFrame", frame, "a frame"),
    chunk: (chunk) => check("/components/schemas/ChatCompletionChunk", chunk, "a chunk"),
    event: (event, name) => check(`/components/schemas/${name}`, event, "an event"),
    answer(method, target, { status, body, headers }) {
      const [path = ""] = target.split("?");
      // The most literal path wins: /api/memory/file is no id.
      const found =
        patterns.find((known) => known.path === path) ?? patterns.find(({ pattern }) => pattern.test(path));
      const verb = method.toLowerCase();
      const operation = found && document.paths[found.path][verb];
      if (!found || !operation) return;
      const described = operation.responses[status];
      const what = `${method} ${path} ${status}`;
      if (described === undefined) {
        if (status < 500) throw new Error(`${what} is not in the OpenAPI document: ${JSON.stringify(body)}`);
        return;
      }
      const types = Object.keys(described.content ?? {});
      const given = headers.get("content-type")?.split(";")[0] ?? "";
      if (!types.includes(given) && !types.includes("*/*") && !(types.length === 0 && body === ""))
        throw new Error(`${what} is ${given}, the OpenAPI document says ${types.join(" or ")}`);
      // A file, of any type, has no schema.
      if (given === "application/json" && types.includes(given))
        check(
          `/paths/${pointerPart(found.path)}/${verb}/responses/${status}/content/application~1json/schema`,
          body,
          what,
        );
    },
  };
}

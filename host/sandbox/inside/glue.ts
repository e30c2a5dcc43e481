/** Replacements for what the transpiler's glue would take for itself; `wasm/component-reader.ts` makes it ask for these. */

export type CoreFunction = (...values: unknown[]) => unknown;

/** Members of the glue's `imports`, beside the interfaces. No interface can have such a name: they hold no colon. */
export interface GlueHooks {
  readonly utf8: Pick<TextDecoder, "decode">;
  readonly utf16: Pick<TextDecoder, "decode">;
  slice(buffer: ArrayBuffer, from: number, to: number): ArrayBuffer;
  /** Wraps `realloc` and `post-return`: the component model forbids calling imports from within them. */
  inward(inner: unknown): unknown;
  setTimeout: (step: () => void, delay?: number) => NodeJS.Timeout;
  setInterval: (step: () => void, delay?: number) => NodeJS.Timeout;
  clearInterval: (timer: NodeJS.Timeout) => void;
  clearTimeout: (timer: NodeJS.Timeout) => void;
}

// More than any text or list that a tool may pass; what is longer would fill the host's heap before anybody looks.
const MAX_TEXT_BYTES = 4 << 20;
const MAX_LIST_BYTES = 12 << 20;

function bounded(decoder: TextDecoder): Pick<TextDecoder, "decode"> {
  return {
    decode(bytes: Uint8Array): string {
      if (bytes.byteLength > MAX_TEXT_BYTES) throw new RangeError("a text is too long");
      return decoder.decode(bytes);
    },
  } as Pick<TextDecoder, "decode">;
}

const utf8 = bounded(new TextDecoder());
const utf16 = bounded(new TextDecoder("utf-16"));

function slice(buffer: ArrayBuffer, from: number, to: number): ArrayBuffer {
  if (to - from > MAX_LIST_BYTES) throw new RangeError("a list is too long");
  return buffer.slice(from, to);
}

/**
 * One for each instance. `assertOutward` throws while the guest runs only to make room for what it is given. `stopTimers` ends what
 * the glue still waits for: it looks every millisecond whether a guest went on with a stream, and would for as long as the thread lives.
 */
export function createHooks(): { readonly hooks: GlueHooks; assertOutward(): void; stopTimers(): void } {
  let inside = 0;
  const timers = new Set<NodeJS.Timeout>();
  const clear = (timer: NodeJS.Timeout) => {
    timers.delete(timer);
    clearTimeout(timer);
  };
  return {
    hooks: {
      setTimeout: (step, delay) => {
        const timer = setTimeout(() => {
          timers.delete(timer);
          step();
        }, delay);
        timers.add(timer);
        return timer;
      },
      setInterval: (step, delay) => {
        const timer = setInterval(step, delay);
        timers.add(timer);
        return timer;
      },
      clearInterval: clear,
      clearTimeout: clear,
      utf8,
      utf16,
      slice,
      inward: (inner) =>
        typeof inner !== "function"
          ? inner
          : (...values: unknown[]) => {
              inside++;
              try {
                return (inner as CoreFunction)(...values);
              } finally {
                inside--;
              }
            },
    },
    assertOutward() {
      if (inside > 0) throw new WebAssembly.RuntimeError("it called an import while it was given an answer");
    },
    stopTimers() {
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
  };
}

/** Stands in the glue for `WebAssembly.Suspending`, which hides the function that it wraps. */
export class SuspendingImport {
  readonly target: CoreFunction;

  constructor(target: CoreFunction) {
    this.target = target;
  }
}

/** An import that suspends the guest until it answers. The compiler's types of imports do not know such an object yet. */
export function suspending(target: CoreFunction): CoreFunction {
  return new WebAssembly.Suspending(target) as object as CoreFunction;
}

type Imports = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** The small modules that the glue brings along are the same each time that it links an instance. */
class GlueModule {
  static readonly #compiled = new Map<string, WebAssembly.Module>();

  constructor(bytes: Uint8Array<ArrayBuffer>) {
    const key = Buffer.from(bytes).toString("latin1");
    const module = GlueModule.#compiled.get(key) ?? new WebAssembly.Module(bytes);
    GlueModule.#compiled.set(key, module);
    // biome-ignore lint/correctness/noConstructorReturn: the glue says `new`, and wants the real thing.
    return module;
  }
}

class GlueInstance {
  constructor(module: WebAssembly.Module, imports: Imports = {}) {
    const real = (value: unknown) => (value instanceof SuspendingImport ? suspending(value.target) : value);
    const map = (fields: Imports[string]) =>
      Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, real(value)]));
    const linked = Object.fromEntries(Object.entries(imports).map(([name, fields]) => [name, map(fields)]));
    // biome-ignore lint/correctness/noConstructorReturn: the glue says `new`, and wants the real thing.
    return new WebAssembly.Instance(module, linked as Record<string, Record<string, CoreFunction>>);
  }
}

export const GLUE_WEBASSEMBLY: object = Object.assign(Object.create(WebAssembly), {
  Suspending: SuspendingImport,
  Module: GlueModule,
  Instance: GlueInstance,
});

/** The glue looks for a variable of the environment before each of its many words about what it does. */
export const GLUE_GLOBAL: object = Object.create(globalThis, { process: { value: undefined } });

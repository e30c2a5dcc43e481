/** The part of WebAssembly's JavaScript interface that we use: TypeScript describes it only together with a browser's. */
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array<ArrayBuffer>);
    static exports(module: Module): { readonly name: string; readonly kind: string }[];
  }

  class Instance {
    constructor(module: Module, imports?: object);
    readonly exports: Readonly<Record<string, unknown>>;
  }

  class Memory {
    private constructor();
    readonly buffer: ArrayBuffer;
    grow(pages: number): number;
  }

  class Table {
    private constructor();
    readonly length: number;
  }

  class Global {
    private constructor();
    value: unknown;
  }

  /** An import that may return a promise: the guest is suspended until it resolves. */
  class Suspending {
    constructor(target: (...values: unknown[]) => unknown);
  }

  class RuntimeError extends Error {}

  class Exception {
    private constructor();
  }

  function validate(bytes: Uint8Array<ArrayBuffer>): boolean;
  function compile(bytes: Uint8Array<ArrayBuffer>): Promise<Module>;
}

/** Names that JavaScript has elsewhere and a tool does not, and what a tool uses instead. */

const FILES = "a tool has no files: import data at build time, or get it with fetch";
const REQUESTS = "use fetch";
const OTHER_ENGINE = "or build with --engine spidermonkey";
const ENVIRONMENT =
  "a tool has no process and no environment: take settings as params, and let capabilities.json place credentials";
const BYTES = "use Uint8Array, with TextEncoder and TextDecoder for text, atob and btoa for base64";
const NO_DOM = "a tool has no page: return data, and the channel shows it";
const TIMERS = `QuickJS has no timers: answer when execute returns, ${OTHER_ENGINE}`;
const CRYPTO = "use the global crypto; credentials belong to the host, which places them";

const NAMES: Readonly<Record<string, string>> = {
  process: ENVIRONMENT,
  Buffer: BYTES,
  require: 'use import; packages are bundled in, and Node\'s own modules such as "fs" are not there',
  module: 'use export: the script must export "tool"',
  exports: 'use export: the script must export "tool"',
  __dirname: FILES,
  __filename: FILES,
  fs: FILES,
  Deno: FILES,
  Bun: FILES,
  global: "use globalThis",
  window: NO_DOM,
  document: NO_DOM,
  localStorage: "a tool keeps nothing between calls: store data behind an API",
  fetch: `QuickJS has no fetch: use httpRequest from "postern:tool/host@0.1.0", ${OTHER_ENGINE}`,
  XMLHttpRequest: REQUESTS,
  WebSocket: `a tool has no sockets: ${REQUESTS}`,
  setTimeout: TIMERS,
  setInterval: TIMERS,
  setImmediate: "use setTimeout",
  clearTimeout: TIMERS,
  clearInterval: TIMERS,
  crypto: `QuickJS has no crypto: use Math.random, ${OTHER_ENGINE}`,
  URL: `QuickJS has no URL: write the address as text, ${OTHER_ENGINE}`,
  URLSearchParams: `QuickJS has none: use encodeURIComponent, ${OTHER_ENGINE}`,
  Intl: "a tool has no Intl: format numbers and dates yourself, or let the model do it",
  structuredClone: `QuickJS has none: use JSON.parse(JSON.stringify(value)), ${OTHER_ENGINE}`,
};

const MODULES: Readonly<Record<string, string>> = {
  fs: FILES,
  path: "a tool has no files, and so no paths",
  os: "a tool sees no machine",
  process: ENVIRONMENT,
  buffer: BYTES,
  http: REQUESTS,
  https: REQUESTS,
  http2: REQUESTS,
  net: `a tool has no sockets: ${REQUESTS}`,
  tls: `a tool has no sockets: ${REQUESTS}`,
  dns: `a tool has no sockets: ${REQUESTS}`,
  child_process: "a tool starts no processes",
  worker_threads: "a tool starts no threads",
  crypto: CRYPTO,
  timers: "use the global setTimeout",
  url: "use the global URL",
  util: "a tool has TextEncoder and TextDecoder as globals",
};

export function insteadOfName(name: string): string | undefined {
  return Object.hasOwn(NAMES, name) ? NAMES[name] : undefined;
}

export function insteadOfModule(specifier: string): string | undefined {
  const isNodes = specifier.startsWith("node:");
  const [name = ""] = specifier.replace("node:", "").split("/");
  if (Object.hasOwn(MODULES, name)) return MODULES[name];
  return isNodes ? "a tool has none of Node's modules" : undefined;
}

export function explainMissing(error: string): string {
  const [, name] = /^(?:ReferenceError: |Error: )?'?(\w+)'? is not defined$/.exec(error) ?? [];
  const instead = name === undefined ? undefined : insteadOfName(name);
  return instead === undefined ? error : `${error}: ${instead}`;
}

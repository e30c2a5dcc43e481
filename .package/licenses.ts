/** The licences that dependencies may have. One that is not listed is for a person to read first. */

/** For what is in the package, or installed with it. */
const SHIPPED = new Set([
  "0BSD",
  "Apache-2.0",
  "Apache-2.0 WITH LLVM-exception",
  "BlueOak-1.0.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "ISC",
  "MIT",
  "MIT-0",
  "Unlicense",
]);

/** For what only building and testing run. */
const DEVELOPMENT = SHIPPED.union(new Set(["MPL-2.0"]));

/** MPL-2.0 covers its own files alone, and wants it said where their source is: `components/README.md` does. It is in there unchanged. */
export const UNCHANGED: ReadonlySet<string> = new Set(["ical.js"]);

/** Manifests that name none: what their LICENSE files say. */
const READ_BY_HAND: Readonly<Record<string, string>> = {
  "@bytecodealliance/componentize-js": "Apache-2.0 WITH LLVM-exception",
  "@bytecodealliance/componentize-js-0-19-3": "Apache-2.0 WITH LLVM-exception",
  khroma: "MIT",
};

/** A package in the lock file. */
export interface Locked {
  readonly version: string;
  readonly integrity?: string;
  readonly license?: string;
  /** Only for building and testing. */
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

export const isInstalled = ({ dev = false }: Locked) => !dev;

export const nameOf = (path: string) => path.replace(/^.*node_modules\//, "");

/** Returns the licence of a package in the lock file, as an SPDX expression. */
export function licenseOf(path: string, { license }: Locked): string {
  return (license ?? READ_BY_HAND[nameOf(path)] ?? "none").replace(/^\((.*)\)$/, "$1");
}

export function isAllowed(license: string, isShipped: boolean): boolean {
  const allowed = isShipped ? SHIPPED : DEVELOPMENT;
  return license.split(" OR ").some((choice) => allowed.has(choice));
}

/** The image and the fleet: what can be checked without a daemon. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { validate } from "dockerfile-utils";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { ROOT } from "../support/clone.ts";
import { describeWhere } from "../support/run/needs.ts";

const DEPLOY = join(ROOT, ".deploy");
const read = (name: string) => readFileSync(join(DEPLOY, name), "utf8");
const lines = read("Dockerfile").split("\n");
const last = lines.slice(lines.findLastIndex((line) => line.startsWith("FROM ")));

interface Service {
  readonly image: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly volumes: readonly string[];
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly tmpfs?: readonly string[];
  readonly init?: boolean;
  readonly stop_grace_period?: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
}
const compose = parse(read("compose.yaml"), { merge: true }) as {
  readonly services: Readonly<Record<"node-1" | "node-2" | "db" | "proxy", Service>>;
  readonly volumes: Readonly<Record<string, null>>;
  readonly networks: {
    readonly inside: { readonly ipam: { readonly config: readonly { readonly subnet: string }[] } };
  };
};

test("the Dockerfile has no mistake that a linter knows", () => {
  expect(validate(read("Dockerfile"))).toEqual([]);
});

test("the image does not run as root, keeps everything in one volume, and says whether it is ready", () => {
  const text = last.join("\n");
  expect(text).toMatch(/^USER 10001:10001$/m);
  expect(text).toMatch(/^VOLUME \/var\/lib\/postern$/m);
  expect(text).toContain("POSTERN_HOME=/var/lib/postern");
  expect(text).toMatch(/^HEALTHCHECK .*\n.*\/ready/m);
  // Without it the Node that Postern brings does not start on a slim Debian.
  expect(text).toMatch(/^RUN apt-get .* libatomic1 /m);
  expect(text).toMatch(/^ENTRYPOINT \["postern"\]$/m);
});

test("what is copied into an image has no history, secrets or other people's builds in it", () => {
  const left = read("Dockerfile.dockerignore").split("\n");
  for (const name of [".git", ".env", "**/node_modules", "**/dist"]) expect(left).toContain(name);
});

test("both nodes share the store, the key and the token, and nothing else", () => {
  const [one, two] = [compose.services["node-1"], compose.services["node-2"]];
  expect({ ...one, volumes: [] }).toEqual({ ...two, volumes: [] });
  expect(one.volumes).not.toEqual(two.volumes);
  for (const name of ["STORE_URL", "POSTERN_SECRETS_KEY", "GATEWAY_AUTH_TOKEN"])
    expect(one.environment[name]).toContain(":?");
  expect(one.environment["TRUSTED_PROXIES"]).toBe(compose.networks.inside.ipam.config[0]?.subnet);
  expect(one).toMatchObject({ read_only: true, cap_drop: ["ALL"], init: true });
  expect(existsSync(join(DEPLOY, one.build?.context ?? "", one.build?.dockerfile ?? ""))).toBe(true);
});

test("each variable that the fleet asks for is in the example, and the other way round", () => {
  const asked = new Set([...read("compose.yaml").matchAll(/\$\{([A-Z_]+)/g)].map(([, name]) => name));
  const given = [...read("example.env").matchAll(/^([A-Z_]+)=/gm)].map(([, name]) => name);
  expect([...asked].filter((name) => name !== "MODEL_PROVIDER").sort()).toEqual(given.sort());
});

function hasCaddy(): boolean {
  try {
    execFileSync("caddy", ["version"]);
    return true;
  } catch {
    return false;
  }
}

describeWhere(hasCaddy(), "Caddy (apt-get install caddy)")("the proxy", () => {
  test("takes its configuration", () => {
    const args = ["validate", "--adapter", "caddyfile", "--config", join(DEPLOY, "Caddyfile")];
    expect(() => execFileSync("caddy", args, { stdio: "pipe" })).not.toThrow();
  });
});

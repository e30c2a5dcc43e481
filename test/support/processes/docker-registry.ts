/** Debian's docker-registry on loopback, where it is installed: plain, and behind TLS that the test ends. */
import { execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, type Socket } from "node:net";
import { join } from "node:path";
import { createServer } from "node:tls";
import { temporaryFolder } from "../home.ts";
import { describeWhere } from "../run/needs.ts";
import { freePort } from "../servers/port.ts";
import type { Later } from "../undo.ts";

const PROGRAM = "/usr/bin/docker-registry";
const OPENSSL = "openssl";

export const describeWithRegistry = describeWhere(
  existsSync(PROGRAM),
  "a registry (apt-get install docker-registry)",
);

/** As `htpasswd -nbB ann wonderland` writes it. */
export const USER = { username: "ann", password: "wonderland" };
const HTPASSWD = "ann:$2y$04$5eYhXxKB7XT/P7FZHvkxfuj1RD6/y7ojBmiEFHEIJh6gH7/9AnM4C\n";

export interface DockerRegistry {
  /** `host:port` over plain http. */
  readonly plain: string;
  /** `host:port` over TLS, with a certificate that this file vouches for. */
  readonly secure: string;
  readonly certificate: string;
  /** Where it keeps the bytes of a digest. */
  fileOf(digest: string): string;
}

export async function startDockerRegistry(later: Later, { open = false } = {}): Promise<DockerRegistry> {
  const folder = temporaryFolder(later);
  const port = await freePort();
  const data = join(folder, "data");
  writeFileSync(join(folder, "htpasswd"), HTPASSWD);
  writeFileSync(
    join(folder, "config.yml"),
    JSON.stringify({
      version: "0.1",
      log: { level: "info", accesslog: { disabled: true } },
      storage: { filesystem: { rootdirectory: data } },
      http: { addr: `127.0.0.1:${port}`, relativeurls: true, secret: "of the test" },
      ...(open ? {} : { auth: { htpasswd: { realm: "test", path: join(folder, "htpasswd") } } }),
    }),
  );
  const child = spawn(PROGRAM, ["serve", join(folder, "config.yml")], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = new Promise((resolve) => child.once("close", resolve));
  later(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  await new Promise<void>((resolve, reject) => {
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      said += chunk;
      if (said.includes("listening on")) resolve();
    });
    child.once("close", () => reject(new Error(`the registry ended: ${said}`)));
  });
  const certificate = join(folder, "cert.pem");
  const secure = await encrypt(port, folder, certificate, later);
  return {
    plain: `127.0.0.1:${port}`,
    secure: `localhost:${secure}`,
    certificate,
    fileOf(digest) {
      const hex = digest.replace("sha256:", "");
      return join(data, "docker/registry/v2/blobs/sha256", hex.slice(0, 2), hex, "data");
    },
  };
}

async function encrypt(port: number, folder: string, certificate: string, later: Later): Promise<number> {
  const key = join(folder, "key.pem");
  execFileSync(
    OPENSSL,
    "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
      .split(" ")
      .concat(["-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate]),
    { stdio: "ignore" },
  );
  const sockets = new Set<Socket>();
  const server = createServer({ key: readFileSync(key), cert: readFileSync(certificate) }, (secured) => {
    const plain = connect(port, "127.0.0.1");
    for (const socket of [secured, plain]) {
      sockets.add(socket);
      socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    }
    secured.pipe(plain).pipe(secured);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  later(
    () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(resolve);
      }),
  );
  return (server.address() as AddressInfo).port;
}

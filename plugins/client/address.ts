/** Where the service is that a terminal joins, and the token to sign in with: of this home, or at an address that a person gave. */
import { hostname } from "node:os";
import { findRunning } from "../../kernel/kit/operations.ts";
import { isLoopback } from "../../kernel/kit/outbound.ts";
import { isInteractive, readSecret } from "../../kernel/kit/terminal.ts";
import { type Env, Fault } from "../../kernel/plugin.ts";

export interface ServiceLocation {
  readonly origin: string;
  readonly token: string;
}

export interface ServiceAddress {
  /** Asked before each connection, since a service that was started again may be elsewhere. Throws where there is none to join. */
  locate(): ServiceLocation;
  /** The command that joins it again. */
  readonly command: string;
  /** What to do where it does not accept the token. */
  readonly refusedHint: string;
}

export const tokenRefused = ({ refusedHint }: ServiceAddress, origin: string): Fault =>
  new Fault("unauthenticated", "token_refused", `${origin} does not accept the token. ${refusedHint}`, {
    param: "POSTERN_TOKEN",
  });

/** The service that runs with this home. Its token goes nowhere but to what the service itself wrote down in the home. */
export function serviceOfHome(home: string, findToken: () => string | undefined): ServiceAddress {
  return {
    command: "postern",
    refusedHint: `The token is that of the home ${home}. If SERVICE_REBORN_WEBUI_TOKEN is set for the service alone, set it here too.`,
    locate() {
      const notice = findRunning(home);
      if (notice === undefined)
        throw new Fault("unavailable", "not_running", `Postern no longer runs with the home ${home}.`);
      const running = `Postern (pid ${notice.pid}) is already running with the home ${home}`;
      if (notice.host !== hostname())
        throw refusal(
          "service_elsewhere",
          `${running}, on the machine or in the container ${notice.host}. Run "postern" there, or join it with --url.`,
        );
      const gateway = notice.plugins.find(({ name }) => name === "gateway");
      const [origin] = /^https?:\/\/\S+/.exec(gateway?.detail ?? "") ?? [];
      if (!gateway?.on || origin === undefined)
        throw refusal(
          "gateway_off",
          `${running}, but its gateway is off (${gateway?.detail || "it is not there"}), so this terminal cannot join it. Turn the gateway on, or stop the service first: postern stop`,
        );
      const token = findToken();
      if (token === undefined)
        throw refusal("no_home_token", `${running}, and the home has no token to join it with.`);
      return { origin, token };
    },
  };
}

const refusal = (code: string, message: string) =>
  new Fault("config", code, message, { param: "POSTERN_HOME" });

/** A service at an address. The token is never an argument, which others on the machine can read. */
export async function serviceAt(address: string, env: Env): Promise<ServiceAddress> {
  const origin = readOrigin(address);
  const given = env.secret("POSTERN_TOKEN", "Token for the service that postern --url joins");
  if (given === undefined && !isInteractive())
    throw fault("no_token", `Set POSTERN_TOKEN to your token for ${origin}.`);
  const token = given ?? (await readSecret(`Your token for ${origin}`));
  if (!/^[^\p{Cc}]+$/u.test(token))
    throw fault("bad_token", "A token is one line without control characters.");
  return {
    command: `postern --url ${origin}`,
    refusedHint: "Give another one in POSTERN_TOKEN, or when you are asked.",
    locate: () => ({ origin, token }),
  };
}

/** Plain http would show the token to everybody on the way. */
function readOrigin(address: string): string {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw fault("bad_url", "--url needs the address of a service, such as https://postern.example.org");
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "")
    throw fault(
      "token_in_url",
      "--url takes no token: others on this machine can read it. Set POSTERN_TOKEN, or type it when you are asked.",
    );
  if (url.pathname !== "/")
    throw fault("bad_url", `--url needs the address alone, without a path: ${url.origin}`);
  if (url.protocol === "http:" && !isLoopback(url.hostname.replace(/^\[|\]$/g, "")))
    throw fault(
      "plain_http",
      `--url ${url.origin} is refused: over plain http everybody on the way could read your token. Use https://, or a tunnel to this machine (ssh -L 3000:127.0.0.1:3000 …) and --url http://127.0.0.1:3000`,
    );
  return url.origin;
}

const fault = (code: string, message: string) =>
  new Fault("invalid", code, message, { usage: true, param: "--url" });

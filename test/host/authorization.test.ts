import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Capabilities } from "../../capabilities/capabilities.ts";
import { authorizeTool, secretsToEnter, setUpTool } from "../../host/authorization.ts";
import { parseCapabilities } from "../../host/catalog/catalog.ts";
import type { Prompt } from "../../host/secrets/browser-sign-in.ts";
import {
  type AuthorizationServer,
  openAuthorizationServer,
} from "../support/servers/authorization-server.ts";
import { type Brokerage, openBrokerage } from "../support/services/brokerage.ts";

let server: AuthorizationServer;
let opened: Brokerage;
let privateHosts: Set<string>;

beforeEach(async () => {
  server = await openAuthorizationServer({ id: "the-client", secret: "client-secret-value" });
  privateHosts = new Set([`id.test:${server.port}`]);
  opened = await openBrokerage({ privateHosts: [...privateHosts], addresses: { "id.test": ["127.0.0.1"] } });
  await opened.vault.secrets.set("client_secret", "client-secret-value");
});

afterEach(async () => {
  await opened.close();
  await server.close();
});

/** What a person does, and what they were told. */
function person(does: Partial<Prompt> = {}): Prompt & { readonly told: string[] } {
  const told: string[] = [];
  return {
    told,
    say: (line) => told.push(line),
    secret: async () => undefined,
    text: (_, signal) =>
      new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined), { once: true })),
    agrees: async () => false,
    browse: async () => false,
    ...does,
  };
}

function capabilities(auth: object, rest: object = {}): Capabilities {
  return parseCapabilities({
    version: "1.0.0",
    wit_version: "0.1.0",
    auth: { secret_name: "token", ...auth },
    ...rest,
  });
}

function oauth(scopes: string[] = []) {
  return {
    authorization_url: server.authorizationUrl,
    token_url: server.tokenUrl,
    client_id: "the-client",
    client_secret_secret: "client_secret",
    scopes,
  };
}

function authorize(wants: Capabilities, prompt: Prompt, more: object = {}) {
  return authorizeTool({
    tool: "probe",
    capabilities: wants,
    tools: [wants],
    vault: opened.vault,
    network: opened.network,
    privateHosts,
    environment: () => undefined,
    prompt,
    ...more,
  });
}

/** A browser on this machine, which goes where it is sent. */
const browse = async (url: string) => {
  const back = await server.signIn(url);
  void fetch(back);
  return true;
};

describe("the order of the specification", () => {
  test("§4.4 first the environment: nothing is asked and nothing stored", async () => {
    const prompt = person();
    const wants = capabilities({ env_var: "EXAMPLE_TOKEN", oauth: oauth() });
    const environment = (name: string) => (name === "EXAMPLE_TOKEN" ? "from-environment" : undefined);
    expect(await authorize(wants, prompt, { environment })).toEqual({ by: "environment", secret: "token" });
    expect(await opened.vault.secrets.standing("token")).toEqual({ type: "missing" });
    expect(prompt.told.join()).not.toContain("from-environment");
  });

  test("§4.4 then OAuth", async () => {
    const wants = capabilities({ env_var: "EXAMPLE_TOKEN", oauth: oauth() });
    expect(await authorize(wants, person({ browse }))).toEqual({ by: "oauth", secret: "token" });
  });

  test("§4.4 then a value entered by hand, with instructions, address and hint", async () => {
    const wants = capabilities({
      display_name: "Example",
      instructions: "Make a token.",
      setup_url: "https://example.com/tokens",
      token_hint: "ex_…",
    });
    const prompt = person({ secret: async () => " ex_typed-in\n" });
    expect(await authorize(wants, prompt)).toEqual({ by: "manual", secret: "token" });
    expect(prompt.told.slice(0, 3)).toEqual([
      "Make a token.",
      "Get it at https://example.com/tokens",
      "Hint: ex_…",
    ]);
    expect(await opened.vault.values.read("token")).toEqual({ value: "ex_typed-in" });
    expect(prompt.told.join()).not.toContain("ex_typed-in");
  });

  test.each([
    ["entered", undefined, "`token` is too short to be hidden"],
    ["found in the environment", "EXAMPLE_TOKEN", "`EXAMPLE_TOKEN` is too short to be hidden"],
  ])(
    "a value under six characters that is %s is used, and the person is warned",
    async (_how, env_var, words) => {
      const wants = capabilities({ display_name: "Example", ...(env_var && { env_var }) });
      const prompt = person({ secret: async () => "12345\n" });
      await authorize(wants, prompt, { environment: () => "12345" });
      expect(prompt.told.join("\n")).toContain(words);
      expect(prompt.told.join("\n")).toContain("under 6 characters");
      expect(prompt.told.join("\n")).not.toContain("12345");
      const longer = person({ secret: async () => "123456" });
      await authorize(wants, longer, { environment: () => "123456" });
      expect(longer.told.join("\n")).not.toContain("too short");
    },
  );

  test("giving up stores nothing", async () => {
    await expect(authorize(capabilities({}), person())).rejects.toMatchObject({ code: "gave_up" });
    expect(await opened.vault.secrets.standing("token")).toEqual({ type: "missing" });
  });

  test("a tool that asks for no sign-in says so, and where its secrets are entered", async () => {
    const plain = parseCapabilities({
      version: "1.0.0",
      wit_version: "0.1.0",
      http: {
        credentials: { a: { secret_name: "key", location: { type: "bearer" }, host_patterns: ["a.test"] } },
      },
    });
    await expect(authorize(plain, person())).rejects.toThrow('Run "postern tool setup probe" instead.');
  });
});

describe("OAuth", () => {
  test("signs in with PKCE and state over a loopback port, and stores token, refresh token and expiry", async () => {
    await authorize(capabilities({ oauth: oauth(["read"]) }), person({ browse }));
    const record = await opened.vault.values.read("token");
    expect(record?.value).toMatch(/^access-/);
    expect(record?.oauth).toMatchObject({
      clientId: "the-client",
      scopes: ["read"],
      refreshToken: expect.any(String),
    });
    expect(record?.oauth?.expiresAt).toBeGreaterThan(Date.now());
    expect(server.tokenRequests[0]?.get("code_verifier")).toMatch(/^[\w-]{43,}$/);
    expect(server.tokenRequests[0]?.get("redirect_uri")).toMatch(
      /^http:\/\/127\.0\.0\.1:\d+\/oauth\/callback$/,
    );
    expect(opened.mask.hide(record?.value ?? "")).toBe("[secret]");
  });

  test("on a machine without a browser the address is shown, and what it leads to can be pasted", async () => {
    const prompt = person({
      text: async () => {
        const shown = prompt.told.find((line) => line.startsWith("http")) ?? "";
        return (await server.signIn(shown)).href;
      },
    });
    await authorize(capabilities({ oauth: oauth() }), prompt);
    expect(prompt.told[0]).toContain("This machine has no browser");
    expect((await opened.vault.values.read("token"))?.value).toMatch(/^access-/);
  });

  test("with a redirect address of the service's own no port is opened", async () => {
    const redirectUri = "https://postern.example/oauth/callback";
    const prompt = person({
      text: async () => (await server.signIn(prompt.told.find((line) => line.startsWith("http")) ?? "")).href,
    });
    await authorize(capabilities({ oauth: oauth() }), prompt, { redirectUri });
    expect(server.tokenRequests[0]?.get("redirect_uri")).toBe(redirectUri);
  });

  test("an answer with another state is not taken, pasted or called", async () => {
    const pasted: string[] = [];
    const prompt: ReturnType<typeof person> = person({
      text: async () => {
        const back = await server.signIn(prompt.told.find((line) => line.startsWith("http")) ?? "");
        if (pasted.length === 0) {
          const forged = new URL(back);
          forged.searchParams.set("state", "forged");
          expect((await fetch(forged)).status).toBe(404);
          pasted.push(forged.href);
          return forged.href;
        }
        return back.href;
      },
    });
    await authorize(capabilities({ oauth: oauth() }), prompt);
    expect(prompt.told.join()).toContain("does not belong to this sign-in");
    expect(server.tokenRequests).toHaveLength(1);
  });

  test("a sign-in that the user denies is told, and stores nothing", async () => {
    server.behaviour.refuse = "access_denied";
    await expect(authorize(capabilities({ oauth: oauth() }), person({ browse }))).rejects.toThrow(
      /access_denied/,
    );
    expect(await opened.vault.secrets.standing("token")).toEqual({ type: "missing" });
  });

  test("scopes of all tools that share the secret, and those held already, are asked for together", async () => {
    const read = capabilities({ oauth: oauth(["read"]) });
    const others = [
      capabilities({ oauth: oauth(["mail"]) }),
      capabilities({ secret_name: "other", oauth: oauth(["nope"]) }),
    ];
    const prompt = person({ browse });
    await authorize(read, prompt, { tools: [read, ...others] });
    const asked = new URL(prompt.told.find((line) => line.startsWith("http")) ?? "").searchParams;
    expect(asked.get("scope")).toBe("read mail");
    expect(asked.get("prompt")).toBe("consent");
    const again = person({ browse });
    await authorize(capabilities({ oauth: oauth(["calendar"]) }), again);
    expect(new URL(again.told.find((line) => line.startsWith("http")) ?? "").searchParams.get("scope")).toBe(
      "read mail calendar",
    );
  });

  test("a client id or secret that was not set up is asked for by its command", async () => {
    const wants = capabilities({
      oauth: { ...oauth(), client_id: undefined, client_id_secret: "client_id" },
    });
    await expect(authorize(wants, person({ browse }))).rejects.toThrow(
      /`client_id` is not set: run "postern tool setup"/,
    );
    await opened.vault.secrets.set("client_id", "the-client");
    expect((await authorize(wants, person({ browse }))).by).toBe("oauth");
  });

  test("a server that is not https and not excepted is refused before anything is sent", async () => {
    const wants = capabilities({ oauth: { ...oauth(), authorization_url: "http://other.test/authorize" } });
    await expect(authorize(wants, person({ browse }))).rejects.toMatchObject({ code: "oauth_insecure" });
  });
});

describe("setup", () => {
  const wants = () =>
    capabilities(
      {},
      {
        http: {
          credentials: { a: { secret_name: "key", location: { type: "bearer" }, host_patterns: ["a.test"] } },
        },
        setup: { required_secrets: [{ name: "client_id", prompt: "Client id" }] },
      },
    );

  test("§4.4 asks for the required secrets and for credentials that no sign-in provides", async () => {
    const asked: string[] = [];
    const secret = async (question: string) => {
      asked.push(question);
      return `value of ${question}`;
    };
    const { secrets, values } = opened.vault;
    expect(await setUpTool({ capabilities: wants(), secrets, prompt: person({ secret }) })).toEqual([
      "client_id",
      "key",
    ]);
    expect(asked).toEqual(["Client id", "key"]);
    expect(await values.read("client_id")).toEqual({ value: "value of Client id" });
  });

  test("a value under six characters is stored, and the person is warned", async () => {
    const { secrets, values } = opened.vault;
    const prompt = person({ secret: async (question) => (question === "key" ? "12345" : "long enough") });
    await setUpTool({ capabilities: wants(), secrets, prompt });
    expect(prompt.told).toEqual([expect.stringContaining("`key` is too short to be hidden")]);
    expect(await values.read("key")).toEqual({ value: "12345" });
  });

  test("an empty entry keeps what is there", async () => {
    const { secrets, values } = opened.vault;
    await secrets.set("client_id", "kept-value");
    await secrets.set("key", "kept-key");
    expect(
      await setUpTool({ capabilities: wants(), secrets, prompt: person({ secret: async () => "" }) }),
    ).toEqual([]);
    expect(await values.read("client_id")).toEqual({ value: "kept-value" });
  });
});

test("a secret is needed if one of the credentials with it is, whichever comes first", () => {
  const uses = (...optional: boolean[]) =>
    Object.fromEntries(
      optional.map((isOptional, at) => [
        `use-${at}`,
        {
          secret_name: "key",
          optional: isOptional,
          location: { type: "bearer" },
          host_patterns: [`api-${at}.example.com`],
        },
      ]),
    );
  const needs = (...optional: boolean[]) => {
    const file = { version: "1.0.0", wit_version: "0.1.0", http: { credentials: uses(...optional) } };
    return secretsToEnter(parseCapabilities(JSON.stringify(file))).map(({ isRequired }) => isRequired);
  };
  expect([needs(true), needs(false)]).toEqual([[false], [true]]);
  expect([needs(false, true), needs(true, false)]).toEqual([[true], [true]]);
});

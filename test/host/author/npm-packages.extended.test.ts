/** npm packages that know nothing of Postern, inside a tool. */
import { expect, test } from "vitest";
import { trackedUpstream } from "../../support/services/brokerage.ts";
import { builtScript } from "../../support/tools/components.ts";
import { BEARER, install, toolHost } from "../../support/tools/tool-host.ts";

const SOURCE = `import { Octokit } from "@octokit/core";
import OpenAI from "openai";

async function issues(baseUrl) {
  const octokit = new Octokit({ baseUrl });
  const { data, headers } = await octokit.request("GET /repos/{owner}/{repo}/issues", { owner: "a", repo: "b" });
  return { titles: data.map(({ title }) => title), next: headers.link };
}

async function speak(baseURL) {
  // Postern adds the key: the package must not send one of its own.
  const openai = new OpenAI({ apiKey: "none", baseURL, defaultHeaders: { Authorization: null } });
  const whole = await openai.responses.create({ model: "small", input: "Hello" });
  let streamed = "";
  const stream = await openai.chat.completions.create({ model: "small", messages: [], stream: true });
  for await (const { choices } of stream) streamed += choices[0].delta.content;
  return { whole: whole.output_text, streamed };
}

export const tool = {
  description: () => "Uses two npm packages.",
  schema: () => '{"type":"object"}',
  async execute({ params }) {
    const { base, missing } = JSON.parse(params);
    try {
      if (missing) await issues(missing);
      const [github, openai] = await Promise.all([issues(base), speak(base)]);
      return { output: JSON.stringify({ github, openai }) };
    } catch (error) {
      return { error: error.message };
    }
  },
};
`;

const chunk = (content: string) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`;

test("octokit and openai work, with credentials that they never see", async () => {
  const server = await trackedUpstream(({ path }, response) => {
    const json = (content: object, headers = {}) =>
      response
        .writeHead(200, { "content-type": "application/json", ...headers })
        .end(JSON.stringify(content));
    if (path === "/repos/a/b/issues") json([{ title: "The spoon is bent" }], { link: '<x>; rel="next"' });
    else if (path === "/responses")
      json({
        object: "response",
        output: [{ type: "message", content: [{ type: "output_text", text: "Good morning" }] }],
      });
    else response.writeHead(200, { "content-type": "text/event-stream" }).end(chunk("Gr") + chunk("üße"));
  });
  const variable = (name: string) => (name === "PROBE_TOKEN" ? "planted-token-value" : undefined);
  const host = await toolHost({ privateHosts: new Set([`127.0.0.1:${server.port}`]), variable });
  const capabilities = {
    version: "1.0.0",
    wit_version: "0.1.0",
    http: {
      allowlist: [{ host: "127.0.0.1", path_prefix: "/", methods: ["GET", "POST"] }],
      credentials: BEARER.credentials,
    },
    auth: { ...BEARER.auth, env_var: "PROBE_TOKEN" },
  };
  await install(host, "packages", await builtScript("npm-packages.js", SOURCE), JSON.stringify(capabilities));
  const run = (params: object) =>
    host.run({ id: "call", name: "packages", params: JSON.stringify(params) }, { user: "operator" });

  const { outcome, receipt } = await run({ base: `http://127.0.0.1:${server.port}` });
  expect(outcome).toMatchObject({ status: "ok" });
  expect(JSON.parse(outcome.status === "ok" ? outcome.output : "")).toEqual({
    github: { titles: ["The spoon is bent"], next: '<x>; rel="next"' },
    openai: { whole: "Good morning", streamed: "Grüße" },
  });
  expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(
    Array(3).fill("Bearer planted-token-value"),
  );
  expect(receipt?.requests).toHaveLength(3);

  const refused = await run({ base: `http://127.0.0.1:${server.port}`, missing: "https://evil.test" });
  expect(refused.outcome).toMatchObject({
    status: "error",
    message: "The host evil.test is not in the tool's allowlist (127.0.0.1).",
  });
});

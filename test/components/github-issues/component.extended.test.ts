/** The built component in the real host: GitHub's recorded responses through the real pool and broker. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { checkConformance } from "../../../host/author/conformance/check.ts";
import { credentialsFor } from "../../../host/broker/credentials.ts";
import { parseCapabilities } from "../../../host/catalog/catalog.ts";
import { CACHE } from "../../support/tools/alone.ts";
import { builtComponent, capabilitiesOf, installShipped, recordingOf } from "../../support/tools/shipped.ts";

const tape = (name: string) => recordingOf("github-issues", name);

test("it lists, creates and comments on issues, and reports GitHub's errors", async () => {
  const { call } = await installShipped("github-issues");
  const play = async (name: string) => {
    const { params } = JSON.parse(readFileSync(tape(name), "utf8"));
    const { outcome, receipt } = await call(params, tape(name));
    return { receipt, result: outcome.status === "ok" ? JSON.parse(outcome.output) : outcome.message };
  };
  expect((await play("list")).result).toEqual({
    repository: "octocat/hello-world",
    issues: [
      expect.objectContaining({ number: 42, title: "The spoon is bent", comments: 3, author: "octocat" }),
      expect.objectContaining({ number: 40, title: "Café closes at noon ☕", author: "hubot" }),
    ],
  });
  const created = await play("create");
  expect(created.result).toMatchObject({
    number: 43,
    url: "https://github.com/octocat/hello-world/issues/43",
  });
  expect(created.receipt?.requests).toMatchObject([{ method: "POST", host: "api.github.com", status: 201 }]);
  expect((await play("comment")).result).toEqual({
    number: 43,
    url: expect.stringContaining("#issuecomment-7"),
  });
  expect((await play("not-found")).result).toBe("GitHub returned 404: Not Found");
  expect((await play("refused")).result).toBe("GitHub returned 422: Validation Failed; name invalid");
});

test("without a token nothing is sent, and the outcome says how to set one", async () => {
  const { call } = await installShipped("github-issues");
  const { outcome, receipt } = await call({ action: "list", repository: "octocat/hello-world" });
  expect(outcome).toMatchObject({
    status: "unauthenticated",
    secret: "github_token",
    message: expect.stringContaining("postern tool auth github-issues"),
  });
  expect(receipt?.requests).toEqual([]);
});

test("a repository name that would change the URL is refused before any request", async () => {
  const { call } = await installShipped("github-issues");
  for (const repository of ["octocat", "a/b/c", "../x", "a/b?x=", "a/%2e%2e"]) {
    const { outcome, receipt } = await call({ action: "list", repository }, tape("list"));
    expect(outcome).toMatchObject({ status: "error" });
    expect(receipt?.requests.filter(({ status }) => status !== undefined)).toEqual([]);
  }
});

test("the token goes only to api.github.com, as a bearer token, and every grant is used", async () => {
  const capabilitiesText = capabilitiesOf("github-issues");
  const { http } = parseCapabilities(capabilitiesText);
  if (http === undefined) throw new Error("the file grants no network access");
  expect(credentialsFor(http, new URL("https://api.github.com/repos/a/b/issues"))).toMatchObject([
    { secretName: "github_token", location: { type: "bearer" } },
  ]);
  expect(credentialsFor(http, new URL("https://github.com/a/b"))).toEqual([]);
  const report = await checkConformance({
    component: await builtComponent("github-issues"),
    capabilitiesText,
    recordings: ["list", "create", "comment"].map(tape),
    privateHosts: new Set(),
    codeFolder: CACHE,
    progress: () => {},
  });
  const problems = report.findings.filter(
    ({ verdict, subject }) => subject !== "start" && (verdict === "fail" || verdict === "warn"),
  );
  expect(problems).toEqual([]);
  expect(report.findings).toContainEqual(
    expect.objectContaining({ subject: "imports", detail: expect.stringContaining("wasi:http for fetch") }),
  );
  expect(report.findings).toContainEqual(
    expect.objectContaining({ subject: "grants", detail: "exactly what 3 recorded calls used" }),
  );
});

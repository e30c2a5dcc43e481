/// <reference path="../../wit/guest.d.ts" />
/** Issues of GitHub repositories. The host adds the token to the requests; this code never sees it. */
import { httpRequest, log } from "postern:tool/host@0.1.0";
import type { Tool } from "postern:tool/tool@0.1.0";
import { type Params, readParams, SCHEMA } from "./params.ts";

const API = "https://api.github.com/repos";
const HEADERS = JSON.stringify({
  Accept: "application/vnd.github+json",
  "Content-Type": "application/json",
  "User-Agent": "postern-github-issues/0.1.0",
  "X-GitHub-Api-Version": "2022-11-28",
});

/** An error for the model: why this call has no result. */
class Refusal extends Error {}

interface Issue {
  readonly number: number;
  readonly title: string;
  readonly state: string;
  readonly html_url: string;
  readonly comments: number;
  readonly user: { readonly login: string } | null;
  readonly pull_request?: object;
}

export const tool: Tool = {
  description: () =>
    "Issues of GitHub repositories: list the newest, create one, comment on one. Needs the user's GitHub token.",
  schema: () => JSON.stringify(SCHEMA),
  execute({ params }) {
    try {
      return { output: JSON.stringify(answer(readParams(params))) };
    } catch (error) {
      return {
        error: error instanceof Refusal ? error.message : `Invalid parameters: ${(error as Error).message}`,
      };
    }
  },
};

function answer(params: Params): object {
  const issues = `${API}/${params.repository}/issues`;
  switch (params.action) {
    case "list": {
      // GitHub lists pull requests as issues. Ask for twice as many, so that enough remain in most repositories.
      const query = `?state=${params.state}&per_page=${Math.min(100, params.limit * 2)}`;
      const found = ask<readonly Issue[]>("GET", issues + query).filter(({ pull_request }) => !pull_request);
      return { repository: params.repository, issues: found.slice(0, params.limit).map(summary) };
    }
    case "create": {
      const { title, body, labels } = params;
      return summary(ask<Issue>("POST", issues, { title, body, labels }));
    }
    case "comment": {
      const { number, body } = params;
      const { html_url } = ask<{ html_url: string }>("POST", `${issues}/${number}/comments`, { body });
      return { number, url: html_url };
    }
  }
}

function summary({ number, title, state, html_url, comments, user }: Issue): object {
  return { number, title, state, url: html_url, comments, author: user?.login ?? "ghost" };
}

function ask<Answer>(method: "GET" | "POST", url: string, content?: object): Answer {
  log("debug", `${method} ${url}`);
  const sent = content && new TextEncoder().encode(JSON.stringify(content));
  const { status, body } = send(method, url, sent);
  const text = new TextDecoder().decode(body);
  if (status >= 200 && status <= 299) return JSON.parse(text);
  throw new Refusal(`GitHub returned ${status}: ${explain(text)}`);
}

function send(method: string, url: string, body: Uint8Array | undefined) {
  try {
    return httpRequest(method, url, HEADERS, body, undefined);
  } catch (error) {
    throw new Refusal(`The request failed: ${(error as { payload?: string }).payload ?? error}`);
  }
}

function explain(text: string): string {
  try {
    const { message, errors = [] } = JSON.parse(text);
    const details = errors.map(
      (error: { message?: string; field?: string; code?: string }) =>
        error.message ?? `${error.field} ${error.code}`,
    );
    return [message, ...details].join("; ");
  } catch {
    return text.slice(0, 200);
  }
}

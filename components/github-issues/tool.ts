/// <reference path="../../wit/guest.d.ts" />
/**
 * Issues of GitHub repositories, by GitHub's own npm package, which knows nothing of Postern and uses `fetch`. The
 * host adds the token to the requests; this code never sees it.
 */

import type { Tool } from "postern:tool/tool@0.1.0";
import { Octokit } from "@octokit/core";
import { type Params, readParams, SCHEMA } from "./params.ts";

const octokit = new Octokit({ userAgent: "postern-github-issues/0.1.0" });
const headers = { "x-github-api-version": "2022-11-28" };

interface Issue {
  readonly number: number;
  readonly title: string;
  readonly state: string;
  readonly html_url: string;
  readonly comments: number;
  readonly user: { readonly login: string } | null;
}

export const tool: Tool = {
  description: () =>
    "Issues of GitHub repositories: list the newest, create one, comment on one. Needs the user's GitHub token.",
  schema: () => JSON.stringify(SCHEMA),
  async execute({ params }) {
    let read: Params;
    try {
      read = readParams(params);
    } catch (error) {
      return { error: `Invalid parameters: ${(error as Error).message}` };
    }
    try {
      return { output: JSON.stringify(await answer(read)) };
    } catch (error) {
      return { error: explain(error as Failure) };
    }
  },
};

async function answer(params: Params): Promise<object> {
  const [owner = "", repo = ""] = params.repository.split("/");
  const place = { owner, repo, headers };
  switch (params.action) {
    case "list": {
      // GitHub lists pull requests as issues. Ask for twice as many, so that enough remain in most repositories.
      const { state, limit } = params;
      const page = { state, per_page: Math.min(100, limit * 2) };
      const { data } = await octokit.request("GET /repos/{owner}/{repo}/issues", { ...place, ...page });
      const issues = data.filter(({ pull_request }) => !pull_request).slice(0, limit);
      return { repository: params.repository, issues: issues.map(summary) };
    }
    case "create": {
      const { title, body, labels } = params;
      const content = { title, body, labels: [...labels] };
      const { data } = await octokit.request("POST /repos/{owner}/{repo}/issues", { ...place, ...content });
      return summary(data);
    }
    case "comment": {
      const { number, body } = params;
      const { data } = await octokit.request("POST /repos/{owner}/{repo}/issues/{issue_number}/comments", {
        ...place,
        issue_number: number,
        body,
      });
      return { number, url: data.html_url };
    }
  }
}

function summary({ number, title, state, html_url, comments, user }: Issue): object {
  return { number, title, state, url: html_url, comments, author: user?.login ?? "ghost" };
}

/** An error of Octokit. Without a response, the request was not sent or got none: the message says why. */
interface Failure {
  readonly message: string;
  readonly status?: number;
  readonly response?: { readonly data?: { readonly message?: string; readonly errors?: readonly Detail[] } };
}

interface Detail {
  readonly message?: string;
  readonly field?: string;
  readonly code?: string;
}

function explain({ message, status, response }: Failure): string {
  if (response === undefined) return `The request failed: ${message}`;
  const { message: said = message, errors = [] } = response.data ?? {};
  const details = errors.map((error) => error.message ?? `${error.field} ${error.code}`);
  return `GitHub returned ${status}: ${[said, ...details].join("; ")}`;
}

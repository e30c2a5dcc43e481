/** The tool. The host adds the token that capabilities.json names to each request; this code never sees it. */
import { httpRequest } from "postern:tool/host@0.1.0";

/** The schema of params. The model reads it, and the host checks params against it before `execute`. */
const SCHEMA = {
  type: "object",
  properties: {
    count: { type: "integer", minimum: 1, maximum: 20, description: "How many to list; 5 unless given" },
  },
  additionalProperties: false,
};

const HEADERS = JSON.stringify({ Accept: "application/vnd.github+json", "User-Agent": "my-tool" });

export const tool = {
  description: () => "Lists the user's own GitHub repositories, the most recently pushed first.",

  schema: () => JSON.stringify(SCHEMA),

  execute({ params }) {
    try {
      return { output: JSON.stringify(listRepositories(JSON.parse(params))) };
    } catch (error) {
      return { error: explain(error) };
    }
  },
};

function listRepositories({ count = 5 }) {
  const url = `https://api.github.com/user/repos?sort=pushed&per_page=${count}`;
  const { status, body } = httpRequest("GET", url, HEADERS, undefined, undefined);
  const text = new TextDecoder().decode(body);
  if (status === 401) throw new Error("GitHub does not accept the token; the operator can set another one.");
  if (status !== 200) throw new Error(`GitHub returned ${status}: ${text.slice(0, 200)}`);
  const repositories = JSON.parse(text);
  return repositories.map(({ full_name, html_url, pushed_at }) => ({
    name: full_name,
    url: html_url,
    pushed: pushed_at,
  }));
}

/** The host throws errors with the reason in `payload`. */
function explain(error) {
  return error.payload ?? error.message ?? String(error);
}

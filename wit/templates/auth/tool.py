"""The tool. The host adds the token that capabilities.json names to each request; this code never sees it."""

import json

from componentize_py_types import Err
from wit_world import exports
from wit_world.exports.tool import Request, Response
from wit_world.imports import host

# The schema of params. The model reads it, and the host checks params against it before `execute`.
SCHEMA = {
    "type": "object",
    "properties": {
        "count": {
            "type": "integer",
            "minimum": 1,
            "maximum": 20,
            "description": "How many to list; 5 unless given",
        }
    },
    "additionalProperties": False,
}

HEADERS = {"Accept": "application/vnd.github+json", "User-Agent": "my-tool"}


class Tool(exports.Tool):
    def description(self) -> str:
        return "Lists the user's own GitHub repositories, the most recently pushed first."

    def schema(self) -> str:
        return json.dumps(SCHEMA)

    def execute(self, request: Request) -> Response:
        try:
            return Response(output=json.dumps(list_repositories(json.loads(request.params))), error=None)
        except Err as error:
            # The host's own sentence.
            return Response(output=None, error=str(error.value))
        except ValueError as error:
            return Response(output=None, error=str(error))


def list_repositories(params: object) -> list:
    count = params.get("count", 5) if isinstance(params, dict) else 5
    url = f"https://api.github.com/user/repos?sort=pushed&per_page={count}"
    response = host.http_request("GET", url, json.dumps(HEADERS), None, None)
    text = response.body.decode()
    if response.status == 401:
        raise ValueError("GitHub does not accept the token; the operator can set another one.")
    if response.status != 200:
        raise ValueError(f"GitHub returned {response.status}: {text[:200]}")
    return [
        {"name": one["full_name"], "url": one["html_url"], "pushed": one["pushed_at"]}
        for one in json.loads(text)
    ]

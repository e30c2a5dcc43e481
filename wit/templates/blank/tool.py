"""The tool. capabilities.json lists what it may reach: nothing yet."""

import json

from wit_world import exports
from wit_world.exports.tool import Request, Response

# The schema of params. The model reads it, and the host checks params against it before `execute`.
SCHEMA = {
    "type": "object",
    "properties": {"text": {"type": "string", "description": "The text to repeat"}},
    "required": ["text"],
    "additionalProperties": False,
}


class Tool(exports.Tool):
    def description(self) -> str:
        return "Repeats a text. The model decides by this sentence when to call the tool."

    def schema(self) -> str:
        return json.dumps(SCHEMA)

    def execute(self, request: Request) -> Response:
        try:
            return Response(output=json.dumps(answer(json.loads(request.params))), error=None)
        except ValueError as error:
            return Response(output=None, error=str(error))


def answer(params: object) -> dict:
    text = params.get("text") if isinstance(params, dict) else None
    if not isinstance(text, str):
        raise ValueError("Give 'text'.")
    return {"text": text}

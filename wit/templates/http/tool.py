"""The tool. capabilities.json lists what it may reach; the host checks every request against it."""

import json
from datetime import date, datetime, timezone

from componentize_py_types import Err
from wit_world import exports
from wit_world.exports.tool import Request, Response
from wit_world.imports import host
from wit_world.imports.host import Level

# The schema of params. The model reads it, and the host checks params against it before `execute`.
SCHEMA = {
    "type": "object",
    "properties": {
        "date": {
            "type": "string",
            "format": "date",
            "description": "The day to count to, such as 2030-01-31",
        },
        "country": {
            "type": "string",
            "pattern": "^[A-Z]{2}$",
            "description": "Instead of a date: count to the next public holiday of this country, such as DE",
        },
    },
    "additionalProperties": False,
}


class Tool(exports.Tool):
    def description(self) -> str:
        return "Counts the days until a date, or until the next public holiday of a country."

    def schema(self) -> str:
        return json.dumps(SCHEMA)

    def execute(self, request: Request) -> Response:
        try:
            return Response(output=json.dumps(countdown(json.loads(request.params))), error=None)
        except Err as error:
            # The host's own sentence.
            return Response(output=None, error=str(error.value))
        except ValueError as error:
            return Response(output=None, error=str(error))


def countdown(params: object) -> dict:
    given = params if isinstance(params, dict) else {}
    if isinstance(given.get("date"), str):
        return {"date": given["date"], "days": days_until(given["date"])}
    if not isinstance(given.get("country"), str):
        raise ValueError("Give 'date' or 'country'.")
    found = next_holiday(given["country"])
    return {"date": found["date"], "name": found["name"], "days": days_until(found["date"])}


def days_until(day: str) -> int:
    return (date.fromisoformat(day) - datetime.now(timezone.utc).date()).days


def next_holiday(country: str) -> dict:
    url = f"https://date.nager.at/api/v3/NextPublicHolidays/{country}"
    host.log(Level.INFO, f"fetching the public holidays of {country}")
    response = host.http_request("GET", url, "{}", None, None)
    text = response.body.decode()
    if response.status != 200:
        raise ValueError(f"date.nager.at returned {response.status}: {text[:200]}")
    holidays = json.loads(text)
    if not holidays:
        raise ValueError(f"No public holidays found for {country}.")
    return holidays[0]

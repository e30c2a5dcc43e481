/// <reference path="../../wit/guest.d.ts" />
/** The weather tool: current weather, forecast and air quality. Needs no API key. */
import { httpRequest, log } from "postern:tool/host@0.1.0";
import type { Tool } from "postern:tool/tool@0.1.0";
import { type Params, readParams, SCHEMA } from "./params.ts";
import { airQuality, currentWeather, type Fetch, forecast } from "./providers.ts";
import { Refusal } from "./refusal.ts";

const HEADERS = JSON.stringify({ Accept: "application/json", "User-Agent": "postern-weather/0.1.0" });

const fetch: Fetch = (url) => {
  const { status, body } = send(url);
  const text = new TextDecoder().decode(body);
  if (status < 200 || status > 299) throw new Refusal(`API error (HTTP ${status}): ${text}`);
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal(`The provider's response is not JSON: ${text.slice(0, 200)}`);
  }
};

function send(url: string) {
  log("debug", `GET ${url}`);
  try {
    return httpRequest("GET", url, HEADERS, undefined, undefined);
  } catch (error) {
    throw new Refusal(`HTTP request failed: ${(error as { payload?: string }).payload ?? error}`);
  }
}

function answer(params: Params): object {
  switch (params.action) {
    case "get_current":
      return currentWeather(params, fetch);
    case "get_forecast":
      return forecast(params, fetch);
    case "get_air_quality":
      return airQuality(params, fetch);
  }
}

export const tool: Tool = {
  execute({ params }) {
    try {
      return { output: JSON.stringify(answer(readParams(params))) };
    } catch (error) {
      if (error instanceof Refusal) return { error: error.message };
      throw error;
    }
  },
  schema: () => JSON.stringify(SCHEMA),
  description: () =>
    "Weather from Open-Meteo: temperature, rain, wind and air quality. get_current and get_forecast (5 days) for a city, get_air_quality for a latitude and longitude.",
};

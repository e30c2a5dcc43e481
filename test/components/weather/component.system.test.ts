/** The built component in the real host: recorded upstream responses through the real pool and broker. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SCHEMA } from "../../../components/weather/params.ts";
import { replayFrom } from "../../../host/broker/recording.ts";
import { digestOf } from "../../../host/catalog/catalog.ts";
import { openTemporaryHost } from "../../../host/commands/author/temporary-host.ts";
import { createComponent } from "../../../host/compile/transpile.ts";
import { createPool } from "../../../host/sandbox/pool.ts";
import type { ServiceHost } from "../../../host/service-host.ts";
import { openHomeStore } from "../../support/tools/home-store.ts";
import { builtComponent, capabilitiesOf, recordingOf } from "../../support/tools/shipped.ts";
import { install } from "../../support/tools/tool-host.ts";

let home: string;
let host: ServiceHost;
let store: ReturnType<typeof openHomeStore>;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "postern-test-"));
  store = openHomeStore(home);
  host = await openTemporaryHost(home, store, new Set());
  await install(host, "weather", await builtComponent("weather"), capabilitiesOf("weather"));
});

afterAll(async () => {
  await host.close();
  await store.close();
  await rm(home, { recursive: true, force: true });
});

async function ask(params: unknown, tape?: string) {
  const text = typeof params === "string" ? params : JSON.stringify(params);
  const { outcome, receipt } = await host.run(
    { id: "call", name: "weather", params: text },
    { user: "operator", ...(tape !== undefined && { tape: await replayFrom(recordingOf("weather", tape)) }) },
  );
  return {
    output: outcome.status === "ok" ? JSON.parse(outcome.output) : undefined,
    error: outcome.status === "ok" ? undefined : outcome.message,
    receipt,
  };
}

describe("§4.4 the weather tool", () => {
  test("§4.4 it has a description and a schema", async () => {
    const tool = await host.catalog.find("weather");
    expect(tool?.description).toContain("get_air_quality");
    expect(tool?.schema).toEqual(SCHEMA);
  });

  test("weather without any data is an error, not a clear sky at 0°", async () => {
    const { error } = await ask({ action: "get_current", city: "Berlin" }, "current-without-data");
    expect(error).toBe("The provider sent no current weather for Berlin.");
  });

  test("§4.4 get_current returns every field, metric by default", async () => {
    const { output, receipt } = await ask({ action: "get_current", city: "Berlin" }, "current-berlin");
    expect(output).toEqual({
      city: "Berlin",
      country: "Germany",
      temperature: 7.4,
      feels_like: 4.1,
      humidity: 86,
      wind_speed: 4.52,
      description: "Slight rain",
      units: "metric",
    });
    expect(receipt?.requests).toMatchObject([
      { method: "GET", host: "geocoding-api.open-meteo.com", status: 200 },
      { method: "GET", host: "api.open-meteo.com", status: 200 },
    ]);
    expect(receipt?.memoryPeak).toBeGreaterThan(1e6);
    expect(receipt?.logs[0]?.message).toContain("geocoding-api");
  });

  test("§4.4 country_code narrows the search, imperial requests Fahrenheit and mph", async () => {
    const params = { action: "get_current", city: "Paris", country_code: "us", units: "imperial" };
    expect((await ask(params, "current-paris-texas-imperial")).output).toEqual({
      city: "Paris",
      country: "United States",
      temperature: 63.2,
      feels_like: 61.9,
      humidity: 71,
      wind_speed: 8.3,
      description: "Partly cloudy",
      units: "imperial",
    });
  });

  test("§4.4 get_forecast returns 5 entries; an unknown code is Unknown, a missing number 0", async () => {
    const { output } = await ask({ action: "get_forecast", city: "Berlin" }, "forecast-berlin");
    expect(output).toMatchObject({ city: "Berlin", country: "Germany", units: "metric" });
    expect(output.entries).toHaveLength(5);
    expect(output.entries[0]).toEqual({
      date: "2026-11-14",
      temp_max: 8.1,
      temp_min: 4.4,
      description: "Slight rain",
      precipitation_probability_max: 95,
    });
    expect(output.entries[4]).toMatchObject({ description: "Unknown", precipitation_probability_max: 0 });
  });

  test("§4.4 get_air_quality returns the index, its label and the particulates", async () => {
    const { output } = await ask({ action: "get_air_quality", lat: 52.52, lon: 13.41 }, "air-berlin");
    expect(output).toEqual({
      lat: 52.52,
      lon: 13.41,
      european_aqi: 43,
      aqi_label: "Moderate",
      pm2_5: 18.7,
      pm10: 24.1,
    });
  });

  test("§4.4 an empty result list gives City not found", async () => {
    const { error } = await ask({ action: "get_current", city: "Atlantis" }, "city-not-found");
    expect(error).toBe("City not found: Atlantis");
  });

  test("§4.4 a non-2xx upstream status gives API error with status and body", async () => {
    const { error } = await ask({ action: "get_forecast", city: "Berlin" }, "upstream-error");
    expect(error).toBe(
      'API error (HTTP 429): {"error":true,"reason":"Minutely API request limit exceeded. Please try again in one minute."}',
    );
  });

  test("§4.4 a transport failure gives HTTP request failed and the detail", async () => {
    const { error } = await ask({ action: "get_current", city: "Berlin" }, "transport-failure");
    expect(error).toBe("HTTP request failed: geocoding-api.open-meteo.com did not answer within 15 seconds.");
  });

  test.each([
    [{ action: "get_current", city: "" }, "'city' must not be empty"],
    [{ action: "get_current", city: "  " }, "'city' must not be empty"],
    [{ action: "get_forecast" }, "Invalid parameters: 'city' is missing"],
    [
      { action: "get_air_quality", lat: 91, lon: 0 },
      "Invalid parameters: 'lat' must be between -90 and 90, given 91",
    ],
    [
      { action: "get_air_quality", lat: 0, lon: -181 },
      "Invalid parameters: 'lon' must be between -180 and 180, given -181",
    ],
    ["{", expect.stringMatching(/^Invalid parameters: not JSON/)],
  ])("§4.4 params %j are refused before any request", async (params, message) => {
    const { error, receipt } = await ask(params, "air-berlin");
    expect(error).toEqual(message);
    expect(receipt?.requests).toEqual([]);
  });

  test("§4.4 requests send Accept and a User-Agent", async () => {
    const pool = createPool({ size: 1 });
    const headers: unknown[] = [];
    const bytes = await builtComponent("weather");
    const cache = join(home, "cache");
    await pool.call({
      component: createComponent({ sha256: digestOf(bytes), read: async () => bytes, cache, memoryMb: 64 }),
      params: '{"action":"get_air_quality","lat":1,"lon":2}',
      timeoutMs: 60_000,
      http: async ({ headersJson }) => {
        headers.push(JSON.parse(headersJson));
        return { ok: true, status: 200, body: Buffer.from("{}") };
      },
      secrets: [],
    });
    await pool.close();
    expect(headers).toEqual([
      { Accept: "application/json", "User-Agent": expect.stringMatching(/^postern-weather\//) },
    ]);
  });

  test("§4.4 the three hosts, path prefix /v1/ and GET are all it may reach", async () => {
    const tool = await host.catalog.find("weather");
    expect(tool?.capabilities.http?.allowlist).toEqual(
      ["geocoding-api.open-meteo.com", "api.open-meteo.com", "air-quality-api.open-meteo.com"].map(
        (name) => ({
          host: name,
          pathPrefix: "/v1/",
          methods: ["GET"],
        }),
      ),
    );
  });
});

import { describe, expect, test } from "vitest";
import { onlyParams, startDialogue } from "../../../support/services/builtin-dialogue.ts";
import { everyTool as tools, weather } from "../../../support/services/builtin-tools.ts";

describe("a request is matched to a tool and its parameters are filled", () => {
  test.each([
    [
      "weather in Berlin in imperial units",
      "weather",
      { action: "get_current", city: "Berlin", units: "imperial" },
    ],
    [
      "What's the weather in new york in fahrenheit?",
      "weather",
      { action: "get_current", city: "new york", units: "imperial" },
    ],
    ["weather for New York, US", "weather", { action: "get_current", city: "New York", country_code: "US" }],
    [
      "what's the weather in London, UK in metric",
      "weather",
      { action: "get_current", city: "London", country_code: "GB", units: "metric" },
    ],
    ["weather tomorrow in Paris, France", "weather", { action: "get_forecast", city: "Paris" }],
    ["Berlin weather", "weather", { action: "get_current", city: "Berlin" }],
    [
      "Can you tell me the current temperature in São Paulo please?",
      "weather",
      { action: "get_current", city: "São Paulo" },
    ],
    [
      "the forecast for the next days in San Francisco",
      "weather",
      { action: "get_forecast", city: "San Francisco" },
    ],
    ["air quality at 52.52, 13.40", "weather", { action: "get_air_quality", lat: 52.52, lon: 13.4 }],
    [
      "how polluted is the air at 51.5 N 0.12 W?",
      "weather",
      { action: "get_air_quality", lat: 51.5, lon: -0.12 },
    ],
    [
      "air quality, longitude 13.4 and latitude 52.5",
      "weather",
      { action: "get_air_quality", lat: 52.5, lon: 13.4 },
    ],
    ['weather {"action":"get_forecast","city":"Rome"}', "weather", { action: "get_forecast", city: "Rome" }],
    ["use the weather tool for Madrid", "weather", { action: "get_current", city: "Madrid" }],
    ["Where is my order A-1234?", "lookup_order", { order_id: "A-1234" }],
    ["convert 100 USD to EUR", "convert_currency", { amount: 100, from: "USD", to: "EUR" }],
    [
      "send an email to bob@example.com saying see you soon",
      "send_email",
      { to: "bob@example.com", body: "see you soon" },
    ],
    [
      'send an urgent email to bob@example.com, body: "come now"',
      "send_email",
      { to: "bob@example.com", body: "come now", urgent: true },
    ],
    [
      'book a table at "Chez Nous" for 4 people tomorrow at 7pm',
      "book_table",
      { restaurant: "Chez Nous", date: "2026-11-16", time: "19:00:00", guests: 4 },
    ],
    ["Convert 26.2 miles to km", "convert", { value: 26.2, from: "miles", to: "km" }],
    ["what is 10 kg in pounds?", "convert", { value: 10, from: "kg", to: "pounds" }],
    ["How many feet are in 3 miles?", "convert", { value: 3, from: "miles", to: "feet" }],
    ["how many km are 26.2 miles?", "convert", { value: 26.2, from: "miles", to: "km" }],
    ["read notes/my-bike.md", "memory_read", { path: "notes/my-bike.md" }],
    ["search the web for cute cats", "web_search", { query: "cute cats" }],
    ["create a mission to learn Spanish", "mission_create", { goal: "learn Spanish" }],
    ["list my missions", "mission_list", {}],
    ["what are my missions?", "mission_list", {}],
    ["I want to set a mission: write a book", "mission_create", { goal: "write a book" }],
    ["complete the mission learn Spanish", "mission_complete", { mission: "learn Spanish" }],
    ["load the soup skill", "skill_load", { name: "soup" }],
    [
      "weather in Frankfurt am Main tomorrow",
      "weather",
      { action: "get_forecast", city: "Frankfurt am Main" },
    ],
  ])("%s", async (request, name, params) => {
    const answer = await startDialogue(tools).say(request);
    expect(answer.calls.map((call) => call.name)).toEqual([name]);
    expect(onlyParams(answer)).toEqual(params);
  });

  test("of two tools the one whose whole name is said is called", async () => {
    const other = { ...weather, name: "weather_pro" };
    const called = async (text: string) => (await startDialogue([weather, other]).say(text)).calls[0]?.name;
    expect(await called("weather in Berlin")).toBe("weather");
    expect(await called("weather pro for Berlin")).toBe("weather_pro");
  });

  test("of several that fit alike the one that needs nothing more is called", async () => {
    expect((await startDialogue(tools).say("my missions?")).calls[0]?.name).toBe("mission_list");
  });
});

describe("what is missing is asked for, and the answer understood", () => {
  test("a bare answer fills the one parameter that was asked for", async () => {
    const dialogue = startDialogue(tools);
    const question = await dialogue.say("where is my order?");
    expect(question.calls).toEqual([]);
    expect(question.text).toContain("order id");
    expect(onlyParams(await dialogue.say("it's A-77."))).toEqual({ order_id: "A-77" });
  });

  test("several are asked for one by one, and earlier answers are kept", async () => {
    const dialogue = startDialogue(tools);
    expect((await dialogue.say("book a table")).text).toContain("I still need **restaurant**");
    expect((await dialogue.say("at Luigi's")).text).toContain("I still need **date**");
    expect((await dialogue.say("tomorrow")).text).toContain("I still need **guests**");
    expect(onlyParams(await dialogue.say("4"))).toEqual({
      restaurant: "Luigi's",
      date: "2026-11-16",
      guests: 4,
    });
  });

  test("an answer goes to what was asked, not to what was known", async () => {
    const dialogue = startDialogue(tools);
    await dialogue.say("convert 5 USD");
    expect(onlyParams(await dialogue.say("EUR"))).toEqual({ amount: 5, from: "USD", to: "EUR" });
  });

  test("of a place with its country the place answers the question for a city", async () => {
    const dialogue = startDialogue(tools);
    await dialogue.say("show me the weather forecast");
    expect(onlyParams(await dialogue.say("Paris, France"))).toEqual({
      action: "get_forecast",
      city: "Paris",
    });
  });

  test("a value out of range is refused with the range, not sent", async () => {
    const dialogue = startDialogue(tools);
    const question = await dialogue.say("air quality at lat 95 lon 13");
    expect(question.calls).toEqual([]);
    expect(question.text).toContain("-90 to 90");
    expect(onlyParams(await dialogue.say("52"))).toEqual({ action: "get_air_quality", lat: 52, lon: 13 });
  });

  test("yes or no and a list are understood as answers", async () => {
    const schema = {
      type: "object",
      properties: { tags: { type: "array", items: { type: "string" } }, loud: { type: "boolean" } },
      required: ["tags", "loud"],
    };
    const dialogue = startDialogue([{ name: "announce", description: "", schema }]);
    expect((await dialogue.say("announce")).text).toContain("I still need **tags**");
    expect((await dialogue.say("sun, sea and sand")).text).toContain("I still need **loud**");
    expect(onlyParams(await dialogue.say("no"))).toEqual({ tags: ["sun", "sea", "sand"], loud: false });
  });

  test("a day whose month is in doubt is asked for, not guessed", async () => {
    const dialogue = startDialogue(tools);
    const question = await dialogue.say('book a table at "Chez Nous" for 4 people on 03/04/2027');
    expect(question.text).toContain("I still need **date**");
    expect(onlyParams(await dialogue.say("3 April"))).toMatchObject({ date: "2027-04-03", guests: 4 });
  });

  test("another request instead of the answer is taken as such", async () => {
    const dialogue = startDialogue(tools);
    await dialogue.say("weather");
    expect((await dialogue.say("convert 5 USD to EUR")).calls[0]?.name).toBe("convert_currency");
  });

  test("never mind ends it", async () => {
    const dialogue = startDialogue(tools);
    await dialogue.say("weather");
    expect((await dialogue.say("never mind")).text).toBe("OK, cancelled.");
    expect((await dialogue.say("Berlin")).calls).toEqual([]);
  });

  test("a follow-up changes what it names and keeps the rest", async () => {
    const dialogue = startDialogue(tools);
    await dialogue.say("weather in Berlin in imperial units");
    await dialogue.result({ ok: true });
    expect(onlyParams(await dialogue.say("and in Paris?"))).toEqual({
      action: "get_current",
      city: "Paris",
      units: "imperial",
    });
    await dialogue.result({ ok: true });
    expect(onlyParams(await dialogue.say("what about tomorrow?"))).toEqual({
      action: "get_forecast",
      city: "Paris",
      units: "imperial",
    });
  });
});

/** What sort of value a property wants, read from its type, format, name and description. */
import { matchesPattern } from "./pattern.ts";
import { isRecord, type Property, textOf, typeOf } from "./schema.ts";
import { wordsOfName } from "./words.ts";

export type Kind =
  | "choice"
  | "boolean"
  | "number"
  | "date"
  | "datetime"
  | "time"
  | "email"
  | "url"
  | "country"
  | "currency"
  | "language"
  | "id"
  | "path"
  | "place"
  | "text"
  | "list"
  | "object";

const BY_FORMAT: Readonly<Record<string, Kind>> = {
  date: "date",
  "date-time": "datetime",
  time: "time",
  email: "email",
  "idn-email": "email",
  uri: "url",
  url: "url",
  "uri-reference": "url",
  uuid: "id",
};

const BY_NAME: readonly (readonly [RegExp, Kind])[] = [
  [/^(e?mail|email address)$|\be?mail( address)?$/, "email"],
  [/\b(url|uri|link|website|webpage)$/, "url"],
  [/\b(path|file|filename|folder|directory)$/, "path"],
  [/\bcountry( code)?\b/, "country"],
  [/\bcurrenc(y|ies)\b/, "currency"],
  [/\b(language|lang)$/, "language"],
  [/\b(date ?time|timestamp|starts? at|ends? at)\b/, "datetime"],
  [/\b(date|day|birthday|deadline|due)\b/, "date"],
  [/\btime$/, "time"],
  [
    /\b(city|town|place|location|destination|origin|departure|arrival|address|region|where|airport)\b/,
    "place",
  ],
  [/\b(id|ids|number|no|code|ref|reference|sku|key|serial|tracking)$/, "id"],
];

export function kindOf(property: Property): Kind {
  const { schema } = property;
  if (Array.isArray(schema["enum"])) return "choice";
  const type = typeOf(schema);
  if (type === "boolean") return "boolean";
  if (type === "integer" || type === "number") return "number";
  if (type === "array") return "list";
  if (type === "object" || (type === undefined && isRecord(schema["properties"]))) return "object";
  // A pattern that refuses plain words describes some sort of code.
  const pattern = schema["pattern"];
  if (typeof pattern === "string" && !matchesPattern(pattern, "some words")) return "id";
  const byFormat = BY_FORMAT[textOf(schema["format"])];
  if (byFormat) return byFormat;
  const name = wordsOfName(property.name).join(" ");
  return BY_NAME.find(([words]) => words.test(name))?.[1] ?? "text";
}

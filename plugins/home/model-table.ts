/** A table of models: the operator's `models.json`, or one that was fetched. Prices are US dollars for a million tokens. */
import { compileCheck, type Declared, describeMistake, Type, wireSchema } from "../../kernel/kit/schema.ts";
import { Fault, reason } from "../../kernel/plugin.ts";

const Money = Type.String({
  pattern: "^\\d{1,9}(\\.\\d{1,6})?$",
  refusal: 'must be a decimal number in quotes, such as "1.25"',
});
const Day = Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$", refusal: "must be a day such as 2026-12-31" });
const Tokens = Type.Integer({ minimum: 1 });
const closed = { additionalProperties: false };

/** The whole request costs what the fitting row with the largest `above` says. */
const PriceRow = Type.Object(
  {
    /** It is for requests with more tokens of input than this. */
    above: Type.Optional(Tokens),
    /** The first day (UTC) on which it applies. */
    from: Type.Optional(Day),
    /** The last day on which it applies. */
    until: Type.Optional(Day),
    input: Money,
    output: Money,
    /** For input that the provider had cached; as `input` if absent. */
    read: Type.Optional(Money),
    /** For input that the provider caches for its shortest time; as `input` if absent. */
    write: Type.Optional(Money),
    /** For input that it caches for an hour. */
    write_1h: Type.Optional(Money),
  },
  closed,
);
export type PriceRow = Declared<typeof PriceRow>;

const ModelRow = Type.Object(
  {
    provider: Type.Optional(Type.String()),
    /** The most tokens of input. */
    window: Type.Optional(Tokens),
    /** The most tokens of an answer. */
    output: Type.Optional(Tokens),
    prices: Type.Optional(Type.Array(PriceRow, { minItems: 1 })),
    /** Kinds of input besides text. */
    inputs: Type.Optional(Type.Array(Type.Enum(["image", "file", "audio"]))),
    /** How hard it can be told to think. */
    levels: Type.Optional(Type.Array(Type.String())),
    /** False if it refuses temperature and the like. */
    sampling: Type.Optional(Type.Boolean()),
    /** Set if requests with tools have to go to the Responses endpoint, or if it cannot call any. */
    tools: Type.Optional(Type.Enum(["responses", "none"])),
    /** The day on which its provider turns it off. */
    retires: Type.Optional(Day),
    replaced_by: Type.Optional(Type.String()),
  },
  closed,
);
export type ModelRow = Declared<typeof ModelRow>;

const ModelTable = Type.Object(
  {
    /** The day on which it was made. */
    date: Type.Optional(Day),
    /** By provider: the models to take if none was chosen, best first. */
    defaults: Type.Optional(Type.Record(Type.String(), Type.Array(Type.String()))),
    models: Type.Record(Type.String(), ModelRow),
  },
  closed,
);
export type ModelTable = Declared<typeof ModelTable>;

/** What a home says of models. */
export interface OperatorTables {
  /** The table that was fetched last. */
  readonly fetched?: ModelTable;
  /** What the operator wrote. */
  readonly own?: ModelTable;
}

const check = compileCheck(wireSchema(ModelTable));

/** `name` says whose table it is. Throws a fault of kind `config` if the text is not a table. */
export function parseModelTable(text: string, name: string): ModelTable {
  let table: unknown;
  try {
    table = JSON.parse(text);
  } catch (error) {
    throw badTable(name, reason(error));
  }
  const [mistake] = check(table);
  if (mistake !== undefined) throw badTable(name, describeMistake(mistake, "it"));
  return table as ModelTable;
}

function badTable(name: string, why: string): Fault {
  const message = `${name} is not a table of models like {"models": {"my-model": {"window": 32000, "prices": [{"input": "0.5", "output": "1.5"}]}}}: ${why}`;
  return new Fault("config", "bad_models", message, { param: name });
}

/** The tables that requests are kept in. */
import { defineTables } from "../../../kernel/kit.ts";

export const MIGRATIONS = defineTables(
  ({ text, keyed }) => `
  CREATE TABLE responses (
    id ${text} PRIMARY KEY,
    "user" ${text} NOT NULL,
    thread ${text} NOT NULL,
    created_at ${text} NOT NULL,
    echo ${text} NOT NULL,
    input ${text} NOT NULL,
    error ${text},
    repeat_key ${text},
    digest ${text},
    -- For a replay: the response whose input this one continues. The row then holds only what is new in it.
    goes_on ${text},
    input_digest ${text},
    -- Digests of texts that many requests of a thread repeat: each text is kept once, in response_texts.
    tools ${text},
    instructions ${text},
    settings ${text},
    -- The turn and thread of a response in the background: empty until it has ended, null for others.
    ran_turn ${text},
    ran_thread ${text}
  ) ${keyed};
  CREATE INDEX responses_by_thread ON responses (thread);
  CREATE UNIQUE INDEX responses_by_key ON responses ("user", repeat_key) WHERE repeat_key IS NOT NULL;
  CREATE INDEX responses_by_digest ON responses ("user", input_digest, id) WHERE input_digest IS NOT NULL;
  CREATE INDEX responses_by_origin ON responses (goes_on) WHERE goes_on IS NOT NULL;
  CREATE INDEX responses_by_ran ON responses (ran_thread) WHERE ran_thread IS NOT NULL;

  CREATE TABLE response_texts (
    thread ${text} NOT NULL,
    digest ${text} NOT NULL,
    "user" ${text} NOT NULL,
    text ${text} NOT NULL,
    PRIMARY KEY (thread, digest)
  ) ${keyed};`,
);

/** The tables of requests and responses. */
import { defineTables } from "../../../kernel/kit.ts";
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

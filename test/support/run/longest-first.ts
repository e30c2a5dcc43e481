/** Starts the files that take longest first, so that no core waits for one of them at the end. */
import { BaseSequencer, type TestSpecification } from "vitest/node";

const LONGEST = [
  "test/wit/authors-page.test.ts",
  "test/wit/rust.test.ts",
  "test/host/commands/tool.test.ts",
  "test/host/sandbox/marks.test.ts",
  "test/host/commands/author/new.test.ts",
  "test/plugins/gateway/page/chat/chat.test.ts",
  "test/host/sandbox/fetch.test.ts",
  "test/host/author/check.test.ts",
  "test/host/author/trace.test.ts",
  "test/host/sandbox/pool.test.ts",
  "test/plugins/third-party.test.ts",
  "test/host/author/build.test.ts",
  "test/plugins/tui/screen.test.ts",
  "test/host/plugin.test.ts",
  "test/host/author/npm-packages.test.ts",
  "test/host/author/fetch.test.ts",
  "test/attacks/c-consent-and-secrets.test.ts",
  "test/plugins/tui/keys.test.ts",
  "test/host/calls/switches.test.ts",
  "test/host/sandbox/hostile.test.ts",
  "test/host/commands/author/dev.test.ts",
  "test/host/catalog/install.test.ts",
  "test/attacks/e-specification.test.ts",
  "test/components/github-issues/component.test.ts",
  "test/patterns.test.ts",
  "test/host/sandbox/memory.test.ts",
  "test/host/wasm/random-modules.test.ts",
  "test/plugins/responses/open/thousand-rounds.test.ts",
  "test/plugins/responses/endpoints/embeddings.test.ts",
  "test/plugins/responses/random.test.ts",
];

const rankOf = ({ moduleId }: TestSpecification): number => {
  const at = LONGEST.findIndex((file) => moduleId.endsWith(file));
  return at === -1 ? LONGEST.length : at;
};

export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((one, other) => rankOf(one) - rankOf(other));
  }
}

/** Tools that the model wrote, built and tried but not installed, for as long as a person may take to answer. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, sep } from "node:path";
import { createMutex } from "../../kernel/kit/concurrency.ts";
import type { PrivateHosts } from "../../kernel/kit/outbound.ts";
import { findOrders, textsIn } from "../../kernel/kit/untrusted.ts";
import { Fault, type Keyed } from "../../kernel/plugin.ts";
import { makeComponent } from "../author/build/apart.ts";
import type { ToolchainPlaces } from "../author/build/toolchain.ts";
import { checkConformance } from "../author/conformance/check.ts";
import type { Finding } from "../author/conformance/report.ts";
import type { Candidate, InstalledTool } from "../catalog/catalog.ts";
import { codeFolder } from "../catalog/code-cache.ts";
import { checkName, readCapabilities } from "../catalog/install.ts";
import { SHIPPED } from "../catalog/shipped.ts";
import { withCapabilitiesSection } from "../compile/capabilities-section.ts";
import { WIT_VERSION } from "../compile/component.ts";
import type { Proposal } from "../installer.ts";
import type { ServiceHost } from "../service-host.ts";

export interface ProposedTool {
  readonly name: string;
  /** One TypeScript file. */
  readonly source: string;
  /** What its capabilities file says beside its versions. */
  readonly capabilities: object;
  /** Recorded calls: params, and the answers to the requests that they make. */
  readonly examples: readonly { readonly params: object; readonly exchanges?: readonly object[] }[];
}

export interface Draft {
  readonly name: string;
  /** In base64. */
  readonly component: string;
  readonly capabilitiesText: string;
  /** The digest of the tool that it takes the place of. */
  readonly replaces?: string | undefined;
  /** What a person is told of it. */
  readonly sentences: readonly string[];
}

/** How the making of one is followed and stopped. */
interface Making {
  readonly signal?: AbortSignal | undefined;
  progress(words: string): void;
}

export type Drafts = ReturnType<typeof createDrafts>;

const KEPT_MS = 7 * 24 * 3_600_000;
const CHECK_TIMEOUT_MS = 120_000;
/** A busy machine may take long to prepare one, and then its calls are quick. */
const CALLS_TIMEOUT_MS = 15_000;
const EXAMPLE = "example-";

export function createDrafts({
  keyed,
  places,
  privateHosts,
  open,
}: {
  readonly keyed: Keyed<Draft>;
  readonly places: ToolchainPlaces;
  readonly privateHosts: PrivateHosts;
  open(): Promise<Pick<ServiceHost, "installer" | "code">>;
}) {
  const oneAfterAnother = createMutex();

  async function make(proposed: ProposedTool, { signal, progress }: Making): Promise<Draft> {
    const { name, source, capabilities } = proposed;
    checkName(name);
    const file = { version: "0.1.0", wit_version: WIT_VERSION, ...capabilities };
    const capabilitiesText = JSON.stringify(file, undefined, 2);
    readCapabilities(capabilitiesText);
    progress(`Building the tool ${name}. This can take a minute.`);
    const made = await makeComponent(source, places, signal);
    progress(`Checking the tool ${name}, and trying its examples.`);
    const component = withCapabilitiesSection(made, capabilitiesText);
    const { installer, code } = await open();
    const proposal = await installer.propose(name, { component, capabilitiesText }, { unsigned: () => true });
    try {
      refuseOrders(proposal.candidate);
      const findings = await check(proposed, proposal.candidate, signal);
      return {
        name,
        component: Buffer.from(component).toString("base64"),
        capabilitiesText,
        replaces: proposal.replaces?.digest,
        sentences: describe(proposal, findings),
      };
    } catch (error) {
      await code.drop(proposal.candidate.digest);
      throw error;
    }
  }

  async function check(
    { examples }: ProposedTool,
    { component, capabilitiesText }: Candidate,
    signal?: AbortSignal,
  ): Promise<readonly Finding[]> {
    const folder = await mkdtemp(join(tmpdir(), "postern-examples-"));
    const deadline = AbortSignal.timeout(CHECK_TIMEOUT_MS);
    try {
      const recordings = examples.map((_, at) => join(folder, `${EXAMPLE}${at + 1}.json`));
      for (const [at, { params, exchanges = [] }] of examples.entries())
        await writeFile(recordings[at] as string, JSON.stringify({ params, exchanges }));
      const report = await checkConformance({
        component,
        capabilitiesText,
        recordings,
        privateHosts,
        codeFolder: codeFolder(places.home),
        progress: () => {},
        callsMs: CALLS_TIMEOUT_MS,
        signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
      });
      signal?.throwIfAborted();
      const findings = report.findings.map((finding) => ({
        ...finding,
        detail: finding.detail.replaceAll(`${folder}${sep}`, ""),
      }));
      refuseUnready(findings);
      return findings;
    } catch (error) {
      if (!deadline.aborted) throw error;
      throw notReady(`checking it took longer than ${CHECK_TIMEOUT_MS / 1000} seconds. Does it loop?`);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  return {
    /** Sentences about what it is and may do, for a person to agree to. A fault says what is wrong with it. */
    async draft(key: string, proposed: ProposedTool, making: Making): Promise<readonly string[]> {
      const kept = await keyed.get(key);
      if (kept !== undefined) return kept.sentences;
      const made = await oneAfterAnother("build", () => make(proposed, making));
      await keyed.set(key, made, KEPT_MS);
      return made.sentences;
    },
    /** Installs exactly what the sentences were about. */
    async install(key: string): Promise<InstalledTool> {
      const kept = await keyed.get(key);
      if (kept === undefined) {
        const message =
          "This proposal was made more than seven days ago, or was installed. Propose it again.";
        throw new Fault("missing", "no_such_proposal", message);
      }
      const { name, capabilitiesText, replaces } = kept;
      const { installer } = await open();
      const component = Buffer.from(kept.component, "base64");
      const proposal = await installer.propose(
        name,
        { component, capabilitiesText },
        { unsigned: () => true },
      );
      if (proposal.replaces?.digest !== replaces) {
        const message = `Another ${name} was installed or removed while this question waited. Propose it again.`;
        throw new Fault("invalid", "tool_changed", message);
      }
      const tool = await installer.install(proposal, { replace: () => true });
      await keyed.delete(key);
      return tool;
    },
  };
}

/** A description is before the model in every later conversation. */
function refuseOrders({ description, schema }: Candidate): void {
  const [order] = findOrders([description, ...textsIn(schema)].join("\n"));
  if (order === undefined) return;
  const message = `What the tool says of itself reads like orders: ${JSON.stringify(order)}. Say only what it does and what its params are.`;
  throw new Fault("invalid", "tool_gives_orders", message);
}

function refuseUnready(findings: readonly Finding[]): void {
  const isExample = ({ subject }: Finding) => subject.startsWith(EXAMPLE);
  const wrong = findings.filter(
    (finding) => finding.verdict === "fail" || (isExample(finding) && finding.verdict === "warn"),
  );
  const errors = findings.filter((finding) => isExample(finding) && finding.detail.startsWith("error: "));
  const useless = errors.length === findings.filter(isExample).length ? errors : [];
  const problems = [...new Set([...wrong, ...useless])];
  if (problems.length === 0) return;
  throw notReady(problems.map(({ subject, detail }) => `${subject}: ${detail}`).join("\n"));
}

function notReady(why: string): Fault {
  return new Fault("invalid", "tool_not_ready", `The tool is not ready: ${why}`);
}

function describe({ name, candidate, replaces }: Proposal, findings: readonly Finding[]): readonly string[] {
  const { capabilities, grants, description } = candidate;
  const place = replaces === undefined ? "" : `, in place of version ${replaces.version}`;
  const undo = replaces === undefined ? "remove" : "rollback";
  return [
    `installs the tool ${name} ${capabilities.version} for everybody who uses this Postern${place}`,
    ...(SHIPPED.includes(name)
      ? [`replaces the ${name} that comes with Postern, which is then no longer used`]
      : []),
    ...grants.map((grant) => `${name} ${grant}`),
    ...(replaces?.added ?? []).map((grant) => `new in this version: ${name} ${grant}`),
    ...(replaces?.kept ?? []).map((kept) => `${name} ${kept}`),
    `models will read this about it: ${JSON.stringify(description)}`,
    ...findings.flatMap(({ subject, verdict, detail }) => {
      if (subject.startsWith(EXAMPLE)) return [`${subject.replace(/-(\d+)\.json$/, " $1")} gives ${detail}`];
      // The other warnings are for authors.
      return verdict === "warn" && subject.includes("granted") ? [`${subject}: ${detail}`] : [];
    }),
    `"postern tool ${undo} ${name}" takes it back`,
  ];
}

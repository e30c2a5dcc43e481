/** A file, what the operator and the network are like, and what a tool then asks for. */
export interface World {
  /** What the operator gave for the file's settings, and the private hosts that were agreed to with them. */
  readonly settings: Readonly<Record<string, string>>;
  readonly agreed: readonly string[];
  /** `TOOLS_PRIVATE_HOSTS`. */
  readonly privateHosts: readonly string[];
  readonly addresses: Readonly<Record<string, readonly string[]>>;
  readonly secrets: Readonly<Record<string, string>>;
  /** Where servers send a request on, by the address that was asked. */
  readonly redirects: Readonly<Record<string, { readonly status: number; readonly location: string }>>;
}

export interface Asked {
  readonly user: string;
  readonly method: string;
  readonly url: string;
  readonly headersJson: string;
  readonly body: string | undefined;
}

export interface Sent {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

export interface Judgement {
  readonly ok: boolean;
  /** What left the machine: one request, and one for each redirect. */
  readonly sent: readonly Sent[];
}

/** The part of a valid file that is about requests. */
export interface File {
  readonly settings?: readonly {
    readonly name: string;
    readonly format: string;
    readonly default?: string;
  }[];
  readonly http?: {
    readonly allowlist?: readonly Rule[];
    readonly rate_limit?: { readonly requests_per_minute?: number; readonly requests_per_hour?: number };
    readonly redirects?: boolean;
    readonly credentials?: Readonly<Record<string, Credential>>;
  };
}
export type Host = string | { readonly setting: string };
interface Rule {
  readonly host: Host;
  readonly path_prefix: string;
  readonly methods: readonly string[];
}
export interface Credential {
  readonly secret_name: string;
  readonly location: {
    readonly type: string;
    readonly username?: string;
    readonly name?: string;
    readonly prefix?: string;
    readonly placeholder?: string;
  };
  readonly host_patterns: readonly Host[];
}

export interface PolicyCase {
  readonly file: File;
  readonly world: World;
  readonly asked: readonly Asked[];
}

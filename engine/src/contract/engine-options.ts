import type { SandboxLayer } from '@headwater/sandbox-runtime';
import type { AccountLimits } from '@headwater/shared';
import type { Log } from './log.ts';
import type { SpanSink } from './spans.ts';

export type Role = 'all' | 'api' | 'engine';

/** Everything that a node needs to know, decided by its main file. */
export interface EngineOptions {
  /**
   * `all` and `engine` run lanes (retries, timers, what other nodes left); `api` runs only what it
   * accepts itself. Any number of each may share a database.
   */
  role: Role;
  /** A Postgres server of one's own; absent: the embedded one in `dataDir`. */
  databaseUrl?: string;
  /** `databaseUrl` is the embedded server of `dataDir`, held by another process. Default false. */
  sharesEmbedded?: boolean;
  dataDir: string;
  /**
   * Registry of the packages that components import. Default: the one that npm is set to use on
   * this machine.
   */
  npmRegistry?: string;
  /**
   * Variables by which Node finds proxies and certificates, for the processes that fetch packages.
   * Default: none.
   */
  networkEnvironment?: Readonly<Record<string, string>>;
  /** Seals secrets at rest; absent: a key kept in `dataDir`. */
  encryptionKey?: string;
  /** Keys that open what was sealed before, and seal nothing. */
  oldEncryptionKeys?: readonly string[];
  /** The first account's API key; absent: one is made at the first start. */
  apiKey?: string;
  /** Ranges that user code and deliveries may reach besides public addresses. */
  egressAllow: readonly string[];
  /**
   * `http(s)://[user:password@]host:port`: what user code and deliveries reach is reached through
   * this proxy. Default: directly.
   */
  egressProxy?: string;
  /**
   * `1.1.1.1`, `[::1]:5353`: asked for the names that user code and deliveries reach. Default: the
   * system's.
   */
  dnsServers?: readonly string[];
  /** This node's own ports, which user code and deliveries never reach. */
  listeningPorts: () => readonly number[];
  /** Start of endpoint URLs, without a slash at the end: `https://hw.example.com`. */
  publicUrl: string;
  /** With a domain, endpoints are `<scheme>://<key>.<domain>` instead of `<publicUrl>/e/<key>`. */
  endpointDomain?: string;
  /**
   * Origins that an OAuth flow may send the browser to in the end, besides `publicUrl` and
   * loopback. Default: none.
   */
  oauthRedirectOrigins?: readonly string[];
  /** Pauses between delivery attempts; default: see outbox/retry-policy.ts. */
  retryScheduleSeconds?: readonly number[];
  /** The mail server of `$.send.email`. Absent: no e-mail is sent. */
  mail?: { smtpUrl: string; from: string };
  /** A provider of OpenID Connect at which members sign in. Absent: there is none. */
  oidc?: { issuer: string; clientId: string; clientSecret?: string; name?: string; emailDomains?: readonly string[] };
  /** Bounds of the sandbox processes, as in SandboxOptions. */
  sandbox?: {
    blankProcesses?: number;
    maxProcesses?: number;
    maxRssMb?: number;
    controlGroup?: string;
    requiredLayers?: SandboxLayer['layer'][];
  };
  /** Limits of accounts for which nothing else is set. Default: those of ACCOUNT_LIMITS. */
  limitDefaults?: Partial<AccountLimits>;
  /**
   * A stop that has taken so long waits for runs and the database no longer. Default: most of
   * LIMITS.shutdownMs.
   */
  stopWaitMs?: number;
  /**
   * Pause of this node between two counts of what accounts have and do. Default: five to ten
   * seconds.
   */
  countsEveryMs?: number;
  /** Metrics show the use of each account, labelled with its id. Default: they name none. */
  metricsPerTenant?: boolean;
  /** Takes the spans of what this node does. Absent: none are made. */
  spans?: SpanSink;
  log: Log;
}

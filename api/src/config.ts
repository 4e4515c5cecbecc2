import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { z } from '@hono/zod-openapi';
import { ENCRYPTION_KEY_FORM, isEncryptionKey, type SandboxLayer } from '@headwater/engine';
import { type AccountLimits, LIMITS } from '@headwater/shared';
import {
  isPublicUrl,
  isDatabaseUrl,
  isDomain,
  isHost,
  isHttpUrl,
  isIssuer,
  isOrigin,
  isPort,
  isProxyUrl,
  isRange,
  isSchedule,
  isSmtpUrl,
  MAX_RETRIES,
  MAX_RETRY_SECONDS,
  parseDnsServers,
  parseLayers,
  parseLimits,
  splitList,
} from './config-values.ts';
import { TELEMETRY_VARIABLES, type TelemetryConfig, telemetryOf } from './telemetry/telemetry-config.ts';

type Role = 'all' | 'api' | 'engine';

/** Everything the process is told from outside, checked and with its defaults. */
export interface Config {
  role: Role;
  /** Nodes that this process starts, on one port. Absent: it is the node itself. */
  workers?: number;
  /** It is one of these. `sharesEmbedded`: as in EngineOptions. */
  worker?: { number: number; sharesEmbedded: boolean };
  host: string;
  port: number;
  /** False where PORT was not set: an engine node then serves nothing. */
  portIsSet: boolean;
  publicUrl: string;
  databaseUrl?: string;
  dataDir: string;
  /** Registry of the packages that components import. */
  npmRegistry?: string;
  /** Variables that Node itself reads about proxies and certificates. */
  networkEnvironment?: Record<string, string>;
  apiKey?: string;
  adminKey?: string;
  encryptionKey?: string;
  /** Open what was sealed before. */
  oldEncryptionKeys?: string[];
  /** CIDR ranges, or single addresses. */
  egressAllow: string[];
  /** May hold a password. */
  egressProxy?: string;
  /** Addresses, with a port where it is not 53. */
  dnsServers?: string[];
  /** CIDR ranges, or single addresses, of proxies whose `x-forwarded-*` headers are believed. */
  trustedProxies?: string[];
  /** With a port where clients reach it on an unusual one. */
  endpointDomain?: string;
  /** Origins where OAuth flows may end, besides the server itself and loopback. */
  oauthRedirectOrigins?: string[];
  portalFrameOrigins?: string[];
  /** Origins of pages that may call the API; `*` alone: all. */
  corsOrigins?: string[];
  /** Metrics show the use of each account. */
  metricsPerTenant?: boolean;
  /** The collectors of spans and metrics. Absent: there are none. */
  telemetry?: TelemetryConfig;
  /** Limits of accounts for which the operator has set nothing else. */
  limitDefaults?: Partial<AccountLimits>;
  /**
   * The mail server of `$.send.email`, and whom its messages are from. The URL may hold a password.
   */
  mail?: { smtpUrl: string; from: string };
  /** A provider of OpenID Connect at which members sign in. */
  oidc?: { issuer: string; clientId: string; clientSecret?: string; name?: string; emailDomains?: readonly string[] };
  /** Bounds of the sandbox processes. */
  sandbox: {
    maxProcesses?: number;
    maxRssMb?: number;
    controlGroup?: string;
    requiredLayers?: SandboxLayer['layer'][];
  };
  /** Requests of one busy account, for each processor; default LIMITS.busyRequestsPerSecond. */
  busyRequestsPerSecond?: number;
  /** Pauses between delivery attempts. */
  retryScheduleSeconds?: number[];
  logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent';
}

export type ConfigOutcome = { ok: true; config: Config } | { ok: false; problems: string[] };

const MAX_SANDBOX_PROCESSES = 1_000;
/** An account may be given isolates of 512 MB, and the process around them takes some 100 MB. */
const MIN_SANDBOX_MEMORY_MB = 768;
const MAX_SANDBOX_MEMORY_MB = 65_536;

const MAX_BUSY_REQUESTS = 100_000;

const MAX_WORKERS = 64;

const key = () =>
  z
    .string()
    .min(LIMITS.minApiKeyChars, `must have at least ${LIMITS.minApiKeyChars} characters`)
    .max(256)
    .regex(/^[!-~]+$/, 'must be printable ASCII without spaces')
    .optional();

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .refine((text) => isCount(text, min, max), `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .optional();

function isCount(text: string, min: number, max: number): boolean {
  return /^\d{1,9}$/.test(text) && Number(text) >= min && Number(text) <= max;
}

const schema = z.object({
  PORT: z.string().refine(isPort, 'must be a port from 1 to 65535').transform(Number).optional(),
  HOST: z.string().refine(isHost, 'must be an address or the name of a host').default('127.0.0.1'),
  DATABASE_URL: z
    .string()
    .refine(isDatabaseUrl, 'must be a URL such as postgres://user:password@host:5432/database')
    .optional(),
  HEADWATER_DATA_DIR: z.string().default('.headwater'),
  HEADWATER_API_KEY: key(),
  HEADWATER_ADMIN_KEY: key(),
  HEADWATER_ENCRYPTION_KEY: z.string().refine(isEncryptionKey, `must be ${ENCRYPTION_KEY_FORM}`).optional(),
  HEADWATER_ENCRYPTION_KEYS_OLD: z
    .string()
    .transform(splitList)
    .refine(
      (keys) => keys.every(isEncryptionKey),
      `must be a comma-separated list of keys, each ${ENCRYPTION_KEY_FORM}`,
    )
    .optional(),
  HEADWATER_EGRESS_ALLOW: z
    .string()
    .default('')
    .transform(splitList)
    .refine((ranges) => ranges.every(isRange), 'must be a comma-separated list of CIDR ranges such as 10.0.0.0/8'),
  HEADWATER_EGRESS_PROXY: z
    .string()
    .refine(isProxyUrl, 'must be http://host:port or https://host:port, with user:password@ before the host if needed')
    .optional(),
  HEADWATER_DNS_SERVERS: z.string().transform(parseDnsServers).optional(),
  HEADWATER_NPM_REGISTRY: z
    .string()
    .refine(isHttpUrl, 'must be an http or https URL without a user name, query or fragment')
    .optional(),
  HEADWATER_PUBLIC_URL: z
    .string()
    .refine(isPublicUrl, 'must be an http or https URL without a query or fragment, and without /e or /v1 in its path')
    .optional(),
  HEADWATER_TRUSTED_PROXIES: z
    .string()
    .transform(splitList)
    .refine((ranges) => ranges.every(isRange), 'must be a comma-separated list of CIDR ranges such as 10.0.0.0/8')
    .optional(),
  HEADWATER_ENDPOINT_DOMAIN: z
    .string()
    .toLowerCase()
    .refine(isDomain, 'must be a domain name, with a port where it is not the usual one')
    .optional(),
  HEADWATER_OAUTH_REDIRECT_ORIGINS: z
    .string()
    .transform(splitList)
    .refine(
      (origins) => origins.every(isOrigin),
      'must be a comma-separated list of origins such as https://app.example.com',
    )
    .optional(),
  HEADWATER_PORTAL_FRAME_ORIGINS: z
    .string()
    .transform(splitList)
    .refine(
      (origins) => origins.every(isOrigin),
      'must be a comma-separated list of origins such as https://app.example.com',
    )
    .optional(),
  HEADWATER_CORS_ORIGINS: z
    .string()
    .transform(splitList)
    .refine(
      (origins) => origins.every(isOrigin) || (origins.length === 1 && origins[0] === '*'),
      'must be a comma-separated list of origins such as https://app.example.com, or *',
    )
    .optional(),
  HEADWATER_ROLE: z.enum(['all', 'api', 'engine'], 'must be all, api or engine').optional(),
  HEADWATER_WORKERS: z
    .string()
    .refine(
      (text) => text === 'auto' || isCount(text, 1, MAX_WORKERS),
      `must be auto, or a number from 1 to ${MAX_WORKERS}`,
    )
    .transform((text) => (text === 'auto' ? Math.min(MAX_WORKERS, availableParallelism()) : Number(text)))
    .optional(),
  HEADWATER_LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'silent'], 'must be trace, debug, info, warn, error or silent')
    .default('info'),
  HEADWATER_BUSY_REQUESTS_PER_SECOND: wholeNumber(1, MAX_BUSY_REQUESTS),
  HEADWATER_SANDBOX_PROCESSES: wholeNumber(1, MAX_SANDBOX_PROCESSES),
  HEADWATER_SANDBOX_MEMORY_MB: wholeNumber(MIN_SANDBOX_MEMORY_MB, MAX_SANDBOX_MEMORY_MB),
  HEADWATER_SANDBOX_CGROUP: z
    .string()
    .regex(/^\/[^\0]*$/, 'must be the absolute path of a control group folder')
    .optional(),
  HEADWATER_SANDBOX_REQUIRE: z.string().transform(parseLayers).optional(),
  HEADWATER_SMTP_URL: z
    .string()
    .refine(isSmtpUrl, 'must be smtp://host:port or smtps://host:port, with user:password@ before the host if needed')
    .optional(),
  HEADWATER_MAIL_FROM: z
    .string()
    .regex(
      /^([^<>@\p{Cc}]* <[^<>@\s]+@[^<>@\s]+>|[^<>@\s]+@[^<>@\s]+)$/u,
      'must be an address, or a name and an <address>',
    )
    .optional(),
  HEADWATER_OIDC_ISSUER: z
    .string()
    .refine(isIssuer, 'must be an https URL (http on loopback), without a query')
    .optional(),
  HEADWATER_OIDC_CLIENT_ID: z.string().optional(),
  HEADWATER_OIDC_CLIENT_SECRET: z.string().optional(),
  HEADWATER_OIDC_NAME: z.string().max(64, 'must have at most 64 characters').optional(),
  HEADWATER_OIDC_EMAIL_DOMAINS: z
    .string()
    .transform((text) => splitList(text.toLowerCase()))
    .refine(
      (domains) => domains.length > 0 && domains.every((one) => /^[^\s@]+$/.test(one)),
      'must be domains such as example.com',
    )
    .optional(),
  HEADWATER_METRICS_PER_TENANT: z
    .enum(['true', 'false'], 'must be true or false')
    .transform((text) => text === 'true')
    .optional(),
  HEADWATER_LIMITS: z.string().transform(parseLimits).optional(),
  ...TELEMETRY_VARIABLES,
  HEADWATER_RETRY_SCHEDULE_SECONDS: z
    .string()
    .transform((text) => splitList(text).map(Number))
    .refine(
      isSchedule,
      `must be a comma-separated list of 1 to ${MAX_RETRIES} numbers of seconds, at most ${MAX_RETRY_SECONDS} each`,
    )
    .optional(),
});

/**
 * Reads the environment and the arguments of the process: the only place that does. Every problem
 * at once, a line each. `args` are what follows the script's name: nothing, or the role, and of a
 * worker which one it is.
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>, args: readonly string[]): ConfigOutcome {
  const { argv, worker } = splitArguments(args);
  // An empty variable is how compose files and shells say "not set".
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const result = schema.safeParse(set);
  const role = roleOf(argv, set['HEADWATER_ROLE']);
  const problems = result.success ? [] : result.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`);
  if ((set['HEADWATER_SMTP_URL'] === undefined) !== (set['HEADWATER_MAIL_FROM'] === undefined)) {
    problems.push('HEADWATER_SMTP_URL and HEADWATER_MAIL_FROM must be set together');
  }
  if ((set['HEADWATER_OIDC_ISSUER'] === undefined) !== (set['HEADWATER_OIDC_CLIENT_ID'] === undefined)) {
    problems.push('HEADWATER_OIDC_ISSUER and HEADWATER_OIDC_CLIENT_ID must be set together');
  }
  if (role === undefined) problems.push(`the argument "${argv.join(' ')}" is not a role: all, api or engine`);
  if (!result.success || role === undefined || problems.length > 0) return { ok: false, problems };
  const config = { ...toConfig(result.data, role), ...networkEnvironmentOf(set), ...(worker && { worker }) };
  return { ok: true, config };
}

/** The supervisor adds `--worker <number>`, and `--shares-embedded`, to the role. */
function splitArguments(args: readonly string[]): { argv: readonly string[]; worker?: NonNullable<Config['worker']> } {
  const at = args.indexOf('--worker');
  if (at === -1) return { argv: args };
  const worker = { number: Number(args[at + 1]), sharesEmbedded: args.includes('--shares-embedded') };
  return { argv: args.slice(0, at), worker };
}

const NETWORK_VARIABLE = /^(https?_proxy|no_proxy|node_extra_ca_certs|node_use_system_ca|ssl_cert_file)$/i;

function networkEnvironmentOf(env: Readonly<Record<string, string | undefined>>): Pick<Config, 'networkEnvironment'> {
  const entries = Object.entries(env).filter((entry): entry is [string, string] => NETWORK_VARIABLE.test(entry[0]));
  return entries.length === 0 ? {} : { networkEnvironment: Object.fromEntries(entries) };
}

function roleOf(argv: readonly string[], fromEnv: string | undefined): Role | undefined {
  const word = argv.length > 1 ? argv.join(' ') : argv[0];
  if (word === undefined) return (fromEnv ?? 'all') as Role; // what is wrong with the variable is reported by the schema
  return word === 'all' || word === 'api' || word === 'engine' ? word : undefined;
}

const DEFAULT_PORT = 3000;

function toConfig(env: z.output<typeof schema>, role: Role): Config {
  const port = env.PORT ?? DEFAULT_PORT;
  return {
    role,
    host: env.HOST,
    port,
    portIsSet: env.PORT !== undefined,
    publicUrl: env.HEADWATER_PUBLIC_URL?.replace(/\/+$/, '') ?? `http://${urlHost(env.HOST)}:${port}`,
    dataDir: env.HEADWATER_DATA_DIR,
    egressAllow: env.HEADWATER_EGRESS_ALLOW,
    logLevel: env.HEADWATER_LOG_LEVEL,
    sandbox: sandboxOf(env),
    ...optionalParts(env),
  };
}

function sandboxOf(env: z.output<typeof schema>): Config['sandbox'] {
  const { HEADWATER_SANDBOX_PROCESSES: maxProcesses, HEADWATER_SANDBOX_MEMORY_MB: maxRssMb } = env;
  const { HEADWATER_SANDBOX_CGROUP: controlGroup, HEADWATER_SANDBOX_REQUIRE: requiredLayers } = env;
  return {
    ...(maxProcesses === undefined ? {} : { maxProcesses }),
    ...(maxRssMb === undefined ? {} : { maxRssMb }),
    ...(controlGroup === undefined ? {} : { controlGroup }),
    ...(requiredLayers === undefined ? {} : { requiredLayers }),
  };
}

function mailOf({
  HEADWATER_SMTP_URL: smtpUrl,
  HEADWATER_MAIL_FROM: from,
}: z.output<typeof schema>): Pick<Config, 'mail'> {
  return smtpUrl === undefined || from === undefined ? {} : { mail: { smtpUrl, from } };
}

function oidcOf({
  HEADWATER_OIDC_ISSUER: issuer,
  HEADWATER_OIDC_CLIENT_ID: clientId,
  HEADWATER_OIDC_CLIENT_SECRET: clientSecret,
  HEADWATER_OIDC_NAME: name,
  HEADWATER_OIDC_EMAIL_DOMAINS: emailDomains,
}: z.output<typeof schema>): Pick<Config, 'oidc'> {
  if (issuer === undefined || clientId === undefined) return {};
  return {
    oidc: {
      issuer,
      clientId,
      ...(clientSecret === undefined ? {} : { clientSecret }),
      ...(name === undefined ? {} : { name }),
      ...(emailDomains === undefined ? {} : { emailDomains }),
    },
  };
}

function optionalParts(env: z.output<typeof schema>) {
  const telemetry = telemetryOf(env);
  return {
    ...(telemetry === undefined ? {} : { telemetry }),
    ...(env.HEADWATER_WORKERS === undefined ? {} : { workers: env.HEADWATER_WORKERS }),
    ...(env.DATABASE_URL === undefined ? {} : { databaseUrl: env.DATABASE_URL }),
    ...(env.HEADWATER_API_KEY === undefined ? {} : { apiKey: env.HEADWATER_API_KEY }),
    ...(env.HEADWATER_ADMIN_KEY === undefined ? {} : { adminKey: env.HEADWATER_ADMIN_KEY }),
    ...(env.HEADWATER_ENCRYPTION_KEY === undefined ? {} : { encryptionKey: env.HEADWATER_ENCRYPTION_KEY }),
    ...(env.HEADWATER_ENCRYPTION_KEYS_OLD === undefined
      ? {}
      : { oldEncryptionKeys: env.HEADWATER_ENCRYPTION_KEYS_OLD }),
    ...(env.HEADWATER_EGRESS_PROXY === undefined ? {} : { egressProxy: env.HEADWATER_EGRESS_PROXY }),
    ...(env.HEADWATER_DNS_SERVERS === undefined ? {} : { dnsServers: env.HEADWATER_DNS_SERVERS }),
    ...(env.HEADWATER_NPM_REGISTRY === undefined ? {} : { npmRegistry: env.HEADWATER_NPM_REGISTRY }),
    ...(env.HEADWATER_TRUSTED_PROXIES === undefined ? {} : { trustedProxies: env.HEADWATER_TRUSTED_PROXIES }),
    ...(env.HEADWATER_ENDPOINT_DOMAIN === undefined ? {} : { endpointDomain: env.HEADWATER_ENDPOINT_DOMAIN }),
    ...(env.HEADWATER_OAUTH_REDIRECT_ORIGINS === undefined
      ? {}
      : { oauthRedirectOrigins: env.HEADWATER_OAUTH_REDIRECT_ORIGINS.map((text) => new URL(text).origin) }),
    ...(env.HEADWATER_PORTAL_FRAME_ORIGINS === undefined
      ? {}
      : { portalFrameOrigins: env.HEADWATER_PORTAL_FRAME_ORIGINS.map((text) => new URL(text).origin) }),
    ...(env.HEADWATER_CORS_ORIGINS === undefined
      ? {}
      : { corsOrigins: env.HEADWATER_CORS_ORIGINS.map((text) => (text === '*' ? text : new URL(text).origin)) }),
    ...mailOf(env),
    ...oidcOf(env),
    ...(env.HEADWATER_BUSY_REQUESTS_PER_SECOND === undefined
      ? {}
      : { busyRequestsPerSecond: env.HEADWATER_BUSY_REQUESTS_PER_SECOND }),
    ...(env.HEADWATER_METRICS_PER_TENANT === undefined ? {} : { metricsPerTenant: env.HEADWATER_METRICS_PER_TENANT }),
    ...(env.HEADWATER_LIMITS === undefined ? {} : { limitDefaults: env.HEADWATER_LIMITS }),
    ...(env.HEADWATER_RETRY_SCHEDULE_SECONDS === undefined
      ? {}
      : { retryScheduleSeconds: env.HEADWATER_RETRY_SCHEDULE_SECONDS }),
  };
}

// Listening on every address is not an address to call.
function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return isIP(host) === 6 ? `[${host}]` : host;
}

import path from 'node:path';
import {
  type Builder,
  createBuilder,
  type FetchRequest,
  type ProcessStarter,
  requireLayers,
  type SandboxOptions,
} from '@headwater/sandbox-runtime';
import { ACCOUNT_LIMITS, accountLimits } from '@headwater/shared';
import { createLimitsCache, type LimitsCache, readAccountState } from '../accounts/index.ts';
import type { EngineOptions, Principal } from '../contract/index.ts';
import { createEgress, type Egress, type GuestFetch } from '../egress/index.ts';
import type { HistoryOptions, RetentionOptions } from '../cluster/index.ts';
import type { Sql } from '../db/index.ts';

export function fetchCode(guestFetch: GuestFetch, limits: Pick<LimitsCache, 'get'>) {
  return async ({ accountId: id }: Principal, request: FetchRequest, signal: AbortSignal, maxBytes: number) => {
    const ofAccount = await limits.get(id);
    const maxFetchResponseBytes = Math.min(ofAccount.maxFetchResponseBytes, maxBytes);
    return guestFetch.fetch({ id, limits: { ...ofAccount, maxFetchResponseBytes } }, request, signal);
  };
}

export function builderOf(
  { dataDir, npmRegistry, networkEnvironment, log }: EngineOptions,
  starter: ProcessStarter,
): Builder {
  const builder = createBuilder({
    starter,
    cacheDir: path.join(dataDir, 'package-cache'),
    ...(networkEnvironment === undefined ? {} : { environment: networkEnvironment }),
    ...(npmRegistry === undefined ? {} : { registryUrl: npmRegistry }),
    log: (level, message, fields) => log[level](fields, message),
  });
  // Ignored here: the first build tries again and reports the error.
  builder.findLayers().catch(() => undefined);
  return builder;
}

export function egressOf(options: EngineOptions, sql: Sql): Egress {
  const { egressProxy: proxy, dnsServers } = options;
  // From the client's own options, which include PGHOST and PGPORT. The database's port is also
  // refused on this machine, whatever name the host has.
  const { host: hosts, port: ports } = sql.options;
  const denied = hosts.flatMap((host, place) => {
    const port = ports[place] as number;
    return host.startsWith('/') ? [{ port }] : [{ port, host }, { port }];
  });
  return createEgress({
    allow: options.egressAllow,
    ...(proxy === undefined ? {} : { proxy }),
    ...(dnsServers === undefined ? {} : { dnsServers }),
    deniedPorts: () => [...denied, ...options.listeningPorts().map((own) => ({ port: own }))],
  });
}

export function retryOptionsOf({ retryScheduleSeconds }: EngineOptions): { scheduleSeconds?: readonly number[] } {
  return retryScheduleSeconds === undefined ? {} : { scheduleSeconds: retryScheduleSeconds };
}

export function sandboxOptionsOf(options: EngineOptions, starter: ProcessStarter): SandboxOptions {
  return {
    starter,
    // The dispatcher enforces each account's own limit.
    maxRunsPerProcess: ACCOUNT_LIMITS.maxRunsPerAccount.max,
    ...options.sandbox,
    log: (level, message, fields) => options.log[level](fields, message),
  };
}

/** Throws where the system lacks what the operator requires of it. */
export function requireLayersOf({ sandbox: { requiredLayers = [], controlGroup } = {}, log }: EngineOptions) {
  return requireLayers(requiredLayers, { controlGroup, log: (level, message, fields) => log[level](fields, message) });
}

export function limitsOf({ limitDefaults = {} }: EngineOptions, sql: Sql): LimitsCache {
  return createLimitsCache({ read: (accountId) => readAccountState(sql, accountId), defaults: limitDefaults });
}

export function retentionOf({ limitDefaults, log }: EngineOptions, sql: Sql): RetentionOptions {
  const { eventRetentionDays, keptWorkflowVersions, auditRetentionDays } = accountLimits(limitDefaults ?? {});
  return {
    sql,
    defaultAuditDays: auditRetentionDays,
    defaultDays: eventRetentionDays,
    defaultVersions: keptWorkflowVersions,
    nowMs: Date.now,
    log,
  };
}

export function historyOf({ limitDefaults, log }: EngineOptions, sql: Sql): Omit<HistoryOptions, 'onCut'> {
  const { maxHistoryBytes: defaultBytes, eventRetentionDays: defaultDays } = accountLimits(limitDefaults ?? {});
  return { sql, defaultBytes, defaultDays, nowMs: Date.now, log };
}

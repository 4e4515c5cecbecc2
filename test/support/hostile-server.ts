import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * Environment variable with the URL that returns the attacked server. The first request starts it.
 */
export const HOSTILE_STARTER_VARIABLE = 'HEADWATER_TEST_HOSTILE_STARTER';

/**
 * Half of loopback stands for the internet. The other half, with this address, stands for places
 * that tenants must not reach.
 */
export const [ALLOWED_LOOPBACK, PRIVATE_LOOPBACK] = ['127.0.0.0/9', '127.200.0.1'] as const;

/** All files of a worker attack the same one. */
const known = globalThis as { hostileServer?: HostileServer };

/** The server process that all attacks share. */
export interface HostileServer {
  url: string;
  pid: number;
  databaseUrl: string;
  /** `address:port`, which knows the names of test/support/hostile-dns.ts. */
  dnsServer: string;
}

export async function untilHostileServer(): Promise<void> {
  if (known.hostileServer !== undefined) return;
  const starter = process.env[HOSTILE_STARTER_VARIABLE];
  if (starter === undefined) throw new Error('No server: attacks run in the project "hostile" of vitest.config.ts');
  const answer = await fetch(starter);
  const body: unknown = await answer.json();
  if (!answer.ok) throw new Error(`The server to be attacked did not start: ${String(body)}`);
  known.hostileServer = body as HostileServer;
}

export function hostileServer(): HostileServer {
  if (known.hostileServer === undefined) throw new Error('No server: test/support/hostile-ready.ts was not loaded');
  return known.hostileServer;
}

/** Resident memory of the process itself, without its children. */
export function residentBytes(pid: number): number {
  if (process.platform === 'linux') {
    const [, kb] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(kb) * 1024;
  }
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) * 1024;
}

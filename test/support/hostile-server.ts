import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

export const HOSTILE_SERVER_VARIABLE = 'HEADWATER_TEST_HOSTILE_SERVER';

/** The server process that all attacks share. */
export interface HostileServer {
  url: string;
  pid: number;
  databaseUrl: string;
}

export function hostileServer(): HostileServer {
  const text = process.env[HOSTILE_SERVER_VARIABLE];
  if (text === undefined) throw new Error('No server: attacks run in the project "hostile" of vitest.config.ts');
  return JSON.parse(text) as HostileServer;
}

/** Resident memory of the process itself, without its children. */
export function residentBytes(pid: number): number {
  if (process.platform === 'linux') {
    const [, kb] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(kb) * 1024;
  }
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) * 1024;
}

import { arch, cpus, platform, release, totalmem } from 'node:os';

export interface Machine {
  date: string;
  cores: number;
  cpu: string;
  memoryGb: number;
  system: string;
  node: string;
}

export function describeMachine(): Machine {
  const all = cpus();
  return {
    date: new Date().toISOString().slice(0, 10),
    cores: all.length,
    cpu: all[0]?.model ?? 'unknown',
    memoryGb: Math.round(totalmem() / 2 ** 30),
    system: `${platform()} ${release()} ${arch()}`,
    node: process.version,
  };
}

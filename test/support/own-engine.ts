import { startEngine } from '../../engine/src/index.ts';
import { type Logger, pino } from 'pino';
import { sharedConfinement } from './confinement.ts';

interface OwnEngineOptions {
  databaseUrl: string;
  dataDir: string;
  stopWaitMs?: number;
  /** Default: silent. */
  log?: Logger;
}

/** Starts an engine of the test's own in this process, without sandbox processes in store. */
export async function startOwnEngine({ log = pino({ level: 'silent' }), ...options }: OwnEngineOptions) {
  const sandbox = Object.assign({ confinement: await sharedConfinement() }, { blankProcesses: 0 });
  return startEngine({
    role: 'engine',
    encryptionKey: '5'.repeat(64),
    egressAllow: [],
    sandbox,
    listeningPorts: () => [],
    publicUrl: 'http://127.0.0.1:1',
    log,
    ...options,
  });
}

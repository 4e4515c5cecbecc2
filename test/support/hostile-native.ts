import { setTimeout as sleep } from 'node:timers/promises';
import { bundleGuest } from '../../sandbox-runtime/src/builder/bundle-guest.ts';
import { bundleProcess } from '../../sandbox-runtime/src/builder/bundle-process.ts';
import { findConfinement } from '../../sandbox-runtime/src/confinement/confinement.ts';
import { SandboxProcess } from '../../sandbox-runtime/src/pool/sandbox-process.ts';
import { createStarter } from '../../sandbox-runtime/src/starter/starter.ts';
import { pickGuestLimits } from '../../sandbox-runtime/src/bridge/guest-limits.ts';
import type { SandboxLayer } from '../../sandbox-runtime/src/sandbox-types.ts';
import { accountLimits } from '../../shared/src/index.ts';

/*
 * A sandbox process in which an attacker runs native code. It starts and runs as all processes do,
 * with all confinement. Before, the addon for its system call filter is loaded a second time, to
 * make these calls.
 */
const PRELUDE = `
const koffi = { exports: {} };
process.dlopen(koffi, process.argv[3]);
const libc = koffi.exports.load(null);
const call = libc.func('long syscall(long number, long a, long b, long c, long d)');
const callOnPath = libc.func('long syscall(long number, long a, str path, long c, long d)');
const outcomes = (attacks) => Object.entries(attacks).map(([name, attack]) => [name, attack() === -1 ? koffi.exports.errno() : 'done']);
const SELF = process.pid;
`;
const PARENT_MS = 30_000;

/** Result of each call: the system's error number, or `done`. */
type CallOutcomes = Record<string, number | 'done'>;

export interface NativeAttack {
  layers: readonly SandboxLayer[];
  /** While the process boots. */
  before: CallOutcomes;
  /** Once it is ready to be given runs. */
  after: CallOutcomes;
}

/**
 * \`attacks\` is an object of functions by name, as code: each makes one call by \`call(number, a,
 * b, c, d)\` or \`callOnPath\`.
 */
export async function attackNatively(attacks: string): Promise<NativeAttack> {
  const said: string[] = [];
  const starter = await createStarter();
  try {
    const log = (_level: string, _message: string, { stderr }: Record<string, unknown>) =>
      void said.push(String(stderr));
    const confinement = await findConfinement({
      starter: Promise.resolve(starter),
      maxRssMb: 512,
      controlGroup: undefined,
      log,
    });
    const process = new SandboxProcess({
      settings: { limits: pickGuestLimits(accountLimits()), maxIsolates: 1, maxWarmHeapMb: 64, spareMemoryMb: 32 },
      processCode: `${PRELUDE}const attacks = ${attacks};
const before = outcomes(attacks.harmless);
${await bundleProcess()}
const isReady = setInterval(() => {
  if (process.dlopen !== undefined) return;
  clearInterval(isReady);
  require('node:fs').writeSync(2, JSON.stringify({ before, after: outcomes({ ...attacks.harmless, ...attacks.harmful }) }));
  process.kill(SELF, 'SIGKILL');
}, 10);`,
      starter,
      launch: () => confinement.launch(),
      guest: { code: await bundleGuest(), snapshot: undefined },
      maxRssMb: 512,
      log,
      onFree: () => undefined,
      onExit: () => undefined,
    });
    process.ready.catch(() => undefined);
    await Promise.race([process.whenExited(), sleep(PARENT_MS, undefined, { ref: false })]);
    const { before, after } = JSON.parse(said.join('')) as Record<'before' | 'after', [string, number | 'done'][]>;
    return { layers: confinement.layers, before: Object.fromEntries(before), after: Object.fromEntries(after) };
  } finally {
    await starter.stop();
  }
}

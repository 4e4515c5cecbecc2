// process: A process that has been taken over and goes on for itself when its run is over: it computes, or it fills the memory.
import { expect, it } from 'vitest';
import { outliveForgedRun } from '../../support/hostile-process.ts';
import { hostile } from '../../support/hostile.ts';

const world = hostile();

const MAX_RSS_MB = 200;
/** With a heartbeat it was looked at after ten. */
const WITHIN_MS = 8_000;

/**
 * By then the computing process runs behind all others, and gets little CPU time on a full machine.
 */
const COMPUTED_WITHIN_MS = 200_000;

const PING = 8;
const ALIVE = `channel.on('data', (piece) => { if (piece[4] === ${PING}) send(PONG, 0); });`;

it.skipIf(process.platform !== 'linux').each([
  [
    'fills the memory',
    'const kept = []; setInterval(() => kept.length < 8 && kept.push(Buffer.alloc(50_000_000, 1)), 50);',
    WITHIN_MS,
    /^$/,
  ],
  [
    'computes',
    'const burn = () => { const end = Date.now() + 20; while (Date.now() < end); setImmediate(burn); }; burn();',
    COMPUTED_WITHIN_MS,
    /computed without a run/,
  ],
])('one that %s is ended soon', async (_what, work, withinMs, reason) => {
  const script = `${ALIVE} function attack() { send(OUTCOME, 1, '[1,1]'); setTimeout(() => { ${work} }, 1_500); }`;
  const [became, said = ''] = await world.unharmed(() => outliveForgedRun(script, MAX_RSS_MB, withinMs));
  expect(became).toBe('ended');
  expect(said).toMatch(reason);
});

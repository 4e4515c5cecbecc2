import { LIMITS } from '@headwater/shared';
import { Duplex } from 'node:stream';
import { expect, test } from 'vitest';
import { FrameChannel } from '../../sandbox-runtime/src/pool/frame-channel.ts';
import { FrameWriter } from '../../sandbox-runtime/src/bridge/frames.ts';
import { sendToHost } from '../../sandbox-runtime/src/bridge/frames-to-host.ts';
import { sandboxForFile, withRun } from '../support/sandbox-kit.ts';

const sandbox = sandboxForFile();
const EVENTS = 5;
const EVENT_BYTES = 1_000_000;
const large = withRun(`for (let i = 0; i < ${EVENTS}; i++) this.$emit(i + 'x'.repeat(${EVENT_BYTES}));`);

async function runLarge(tenantId: string) {
  const { outcome, host } = await sandbox.run(large, { tenantId, account: { maxEventBytes: 2 * EVENT_BYTES } });
  expect([outcome.ok, host.events.map(({ data }) => data.length)]).toEqual([true, Array(EVENTS).fill(EVENT_BYTES + 3)]);
}

async function whileOneRuns(tenantId: string, work: () => Promise<void>): Promise<number> {
  let isOver = false;
  const others = (async () => {
    while (!isOver) await sandbox.run(withRun('return 1'), { tenantId, isolateKey: 'dc_other:1' });
  })();
  const beganMs = performance.now();
  await work();
  isOver = true;
  await others;
  return performance.now() - beganMs;
}

test('megabytes of a tenant are read at a pace while another one runs, and come whole', async () => {
  // Both have their process then.
  await whileOneRuns('o_neighbour', () => runLarge('o_large'));
  const tookMs = await whileOneRuns('o_neighbour', () => runLarge('o_large'));
  const paceMs = ((EVENTS * EVENT_BYTES) / LIMITS.readBytesPerSecond) * 1_000 - LIMITS.readBurstMs;
  expect(tookMs).toBeGreaterThan(paceMs);
});

test('nothing is read while the channel rests', async () => {
  const pipe = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
  const heardAtMs: number[] = [];
  const channel = new FrameChannel(pipe, {
    message: () => void heardAtMs.push(performance.now()),
    broken: (reason) => expect.unreachable(reason),
    stuck: () => expect.unreachable(),
    restMs: () => 50,
  });
  expect(channel).toBeDefined();
  const writer = new FrameWriter((bytes) => void pipe.push(Buffer.from(bytes)));
  for (let i = 0; i < 3; i++) {
    sendToHost(writer, { kind: 'pong' });
    await new Promise((resolve) => setImmediate(resolve));
  }
  await expect.poll(() => heardAtMs.length).toBe(3);
  const [first = 0, , last = 0] = heardAtMs;
  // Timers may be a millisecond early.
  expect(last - first).toBeGreaterThan(48);
});

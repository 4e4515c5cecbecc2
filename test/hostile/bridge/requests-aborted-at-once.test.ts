// bridge: Runs that abort each of their requests in the moment in which they make it, many at once.
import { expect, it } from 'vitest';
import type { FetchOutcome } from '../../../sandbox-runtime/src/index.ts';
import { hostile } from '../../support/hostile.ts';
import { recordingHost } from '../../support/run-host.ts';
import { bundle, freshKey, sandboxForFile, withRun } from '../../support/sandbox-kit.ts';

const world = hostile();
const sandbox = sandboxForFile();

/** They abort 24 000 requests: a process may say 20 000 words about nothing. */
const RUNS = 24;
const WALL_MS = 200_000;
const CLOSE_MS = 200;

/** Some connections take a while to close: until then the next requests wait. */
const closing = (_: unknown, signal: AbortSignal) =>
  new Promise<FetchOutcome>((resolve) => {
    const close = () => setTimeout(resolve, CLOSE_MS, { ok: false, message: 'aborted' }).unref();
    signal.addEventListener('abort', close);
  });

it('cost no other run of their account its process', async () => {
  const attack = await bundle(
    withRun(`
for (let i = 0; i < 1_000; i++) {
  const controller = new AbortController();
  fetch('https://example.com/', { signal: controller.signal }).catch(() => {});
  controller.abort('at once');
}`),
  );
  const innocent = await bundle(
    `export default { name: 'Innocent', version: '1', props: { db: '$.service.db' }, run() { this.$emit(this.db.get('a')); } };`,
  );
  await world.unharmed(async () => {
    const begun = Promise.withResolvers<void>();
    const attacked = Promise.withResolvers<void>();
    const host = recordingHost();
    host.dbGet = async () => {
      begun.resolve();
      await attacked.promise;
      return '"innocent"';
    };
    const beside = sandbox.run(innocent, { host, wallMs: WALL_MS, props: { db: { kind: 'db' } } as never });
    await Promise.race([begun.promise, beside]);
    const isolateKey = freshKey();
    const attacks = Array.from({ length: RUNS }, () =>
      sandbox.run(attack, { isolateKey, host: recordingHost({ fetch: closing }), cpuMs: 20_000, wallMs: WALL_MS }),
    );
    const ended = await Promise.all(attacks);
    attacked.resolve();
    const { outcome } = await beside;
    expect({ outcome, data: host.data() }).toMatchObject({ outcome: { ok: true }, data: ['innocent'] });
    expect(ended.filter((run) => !run.outcome.ok)).toEqual([]);
    expect(sandbox.get().stats()).toMatchObject({ processes: 1 });
  });
});

// bridge: What events, answers, requests, keys and log lines are checked with in the isolate, patched so that each leaves it as none.
import { expect, it } from 'vitest';
import { childProcesses } from '../../support/child-processes.ts';
import { hostile } from '../../support/hostile.ts';
import { recordingHost } from '../../support/run-host.ts';
import { type RunOptions, sandboxForFile, withRun } from '../../support/sandbox-kit.ts';

const world = hostile();
const sandbox = sandboxForFile();

const PROPS: NonNullable<RunOptions['props']> = {
  db: { kind: 'db' },
  http: { kind: 'http', endpoint: 'http://hw.test/' },
  store: { kind: 'data-store', id: 'ds_own' },
};
const ATTACKS = {
  'an id that is no number': `Number.isFinite = () => true; this.$emit('x', { id: NaN });`,
  'a part of a millisecond': `Math.trunc = () => 1.5; this.$emit('x', { ts: 1 });`,
  'a time after the last': `Math.abs = () => 0; this.$emit('x', { ts: 1e300 });`,
  'a summary without end': `String.prototype.slice = () => 'x'.repeat(100000); this.$emit('x', { summary: 'y'.repeat(5000) });`,
  'a status that is none': `Number.isInteger = () => true; this.http.respond({ status: 200.5 });`,
  'a header that breaks its line': `RegExp.prototype.test = function () { return this.source[0] === '^'; }; this.http.respond({ status: 200, headers: { a: 'b\\r\\nc: d' } });`,
  'a request with a smuggled header': `RegExp.prototype.test = function () { return this.source[0] === '^'; }; await fetch('http://hw.test/', { headers: { a: 'b\\r\\nc: d' } });`,
  'a URL that is a number': `String.prototype.replace = () => 5; await fetch('http://hw.test/');`,
  'a time to live that is no number': `Number.isInteger = () => true; await this.store.set('k', 1, { ttl: NaN });`,
  'a key to read of more bytes': `String.prototype.charCodeAt = () => 0; this.db.get('€'.repeat(1000));`,
  'a log line of more bytes': `String.prototype.charCodeAt = () => 0; console.log('€'.repeat(16000));`,
};

it.skipIf(process.platform !== 'linux')(
  'each ends its run alone, and another run of the account ends well in the same process',
  async () => {
    await sandbox.run(withRun(''));
    const before = childProcesses().map(({ pid }) => pid);
    expect(before).toHaveLength(1);
    await world.unharmed(async () => {
      const begun = Promise.withResolvers<void>();
      const over = Promise.withResolvers<string>();
      const waiting = recordingHost();
      waiting.dbGet = () => {
        begun.resolve();
        return over.promise;
      };
      const innocent = sandbox.run(withRun(`this.$emit(this.db.get('word'));`), {
        props: PROPS,
        host: waiting,
        wallMs: 60_000,
      });
      await Promise.race([begun.promise, innocent]);
      for (const [name, code] of Object.entries(ATTACKS)) {
        const { outcome } = await sandbox.run(withRun(code), { props: PROPS });
        expect([name, outcome]).toMatchObject([
          name,
          { ok: false, innocent: false, fault: { code: 'COMPONENT_ERROR' } },
        ]);
        expect(outcome).toMatchObject({
          fault: { message: expect.stringContaining('What the run put out cannot be taken') },
        });
      }
      over.resolve('"innocent"');
      expect((await innocent).outcome).toMatchObject({ ok: true });
      expect(waiting.data()).toEqual(['innocent']);
    });
    expect(childProcesses().map(({ pid }) => pid)).toEqual(before);
    expect(sandbox.get().stats().crashes).toBe(0);
  },
);

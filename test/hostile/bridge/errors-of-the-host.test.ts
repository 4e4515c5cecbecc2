// bridge: Errors of the node itself, while it answers a component: a message with a path, and a value that is no error.
import { expect, it } from 'vitest';
import { hostile } from '../../support/hostile.ts';
import { recordingHost } from '../../support/run-host.ts';
import { sandboxForFile, withRun } from '../../support/sandbox-kit.ts';

const world = hostile();
const sandbox = sandboxForFile();

it('say nothing of the node', async () => {
  await world.unharmed(async () => {
    const failures = [new Error('/srv/secret/db.ts'), '/srv/secret', null, { stack: '/srv/secret' }];
    for (const failure of failures) {
      const reject = (): Promise<never> => Promise.reject(failure as Error);
      const host = { ...recordingHost(), dbGet: reject, fetch: reject };
      await sandbox.run(
        withRun(`
        const texts = [];
        const collect = async (act) => { try { await act() } catch (error) { texts.push(error.message, error.stack) } };
        await collect(() => this.db.get('x'));
        await collect(() => fetch('http://a.example/'));
        this.$emit(texts.join('\\n'));`),
        { host, props: { db: { kind: 'db' } } },
      );
      // The events went to the host that was spread: its closure keeps them.
      expect(host.events).toHaveLength(1);
      expect(host.events[0]?.data).not.toMatch(/srv|secret|file:|node_modules/);
    }
  });
  const other = await sandbox.run(withRun(`this.$emit('fine')`), { tenantId: 'o_other' });
  expect(other.host.data()).toEqual(['fine']);
});

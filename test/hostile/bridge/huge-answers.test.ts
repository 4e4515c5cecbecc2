// bridge: An answer of megabytes to a request, taken as text: it crosses at once and is handed over, not copied.
import { expect, it } from 'vitest';
import { recordingHost, textAnswer } from '../../support/run-host.ts';
import { sandboxForFile, withRun } from '../../support/sandbox-kit.ts';

const sandbox = sandboxForFile();

it('does not hold up the others', async () => {
  const host = recordingHost({ fetch: (request) => Promise.resolve(textAnswer(request, 'ö'.repeat(4_000_000))) });
  const { outcome } = await sandbox.run(
    withRun(`const text = await (await fetch('http://a.example/')).text(); this.$emit([text.length, text[3999999]])`),
    { host },
  );
  expect(outcome.ok).toBe(true);
  expect(host.data()).toEqual([[4_000_000, 'ö']]);
  const other = await sandbox.run(withRun(`this.$emit('fine')`), { tenantId: 'o_other' });
  expect(other.host.data()).toEqual(['fine']);
});

import { expect, test } from 'vitest';
import { recordingHost, textAnswer } from '../support/run-host.ts';
import { bundle, freshKey, sandboxForFile, withRun } from '../support/sandbox-kit.ts';

const sandbox = sandboxForFile();

test('module state survives between runs of a key, and is not seen under another', async () => {
  const component = await bundle(withRun(`count += 1; this.$emit(count)`, 'let count = 0;'));
  const [first, second] = [freshKey(), freshKey()];
  const counts: unknown[] = [];
  for (const isolateKey of [first, first, second, first])
    counts.push(...(await sandbox.run(component, { isolateKey })).host.data());
  expect(counts).toEqual([1, 2, 1, 3]);
});

test('a newer revision starts from nothing', async () => {
  const component = await bundle(withRun(`count += 1; this.$emit(count)`, 'let count = 0;'));
  await sandbox.run(component, { isolateKey: 'dc_rev:3' });
  const { host } = await sandbox.run(component, { isolateKey: 'dc_rev:4' });
  expect(host.data()).toEqual([1]);
});

test('32 runs in one isolate interleave and stay apart in events, logs and requests', async () => {
  const component = await bundle(
    withRun(
      `
        running += 1; most = Math.max(most, running);
        console.log('start', event.n);
        await null;
        console.log('after await', event.n);
        await new Promise((resolve) => setTimeout(resolve, 5 + (event.n % 7)));
        const r = await fetch('http://a.example/' + event.n);
        console.log('got', await r.text());
        this.$emit({ n: event.n, own: this.own, most });
        running -= 1;`,
      'let running = 0; let most = 0;',
    ),
  );
  const isolateKey = freshKey();
  const ran = await Promise.all(
    Array.from({ length: 32 }, (_, n) => {
      const host = recordingHost({ fetch: async (request) => textAnswer(request, new URL(request.url).pathname) });
      return sandbox.run(component, { isolateKey, event: { n }, host, props: { own: { kind: 'value', value: n } } });
    }),
  );
  for (const [n, { outcome, host }] of ran.entries()) {
    expect(outcome.ok).toBe(true);
    expect(host.messages()).toEqual([`start ${n}`, `after await ${n}`, `got /${n}`]);
    expect(host.data()).toMatchObject([{ n, own: n }]);
  }
  expect(Math.max(...ran.map(({ host }) => (host.data()[0] as { most: number }).most))).toBeGreaterThan(16);
});

test('two runs that share a promise both finish, though their requests cannot be told apart', async () => {
  const component = await bundle(
    withRun(
      `
        token ??= fetch('http://a.example/token').then((r) => r.text());
        await token;
        if (event.slow) await new Promise((resolve) => setTimeout(resolve, 30));
        this.$emit(await (await fetch('http://a.example/' + event.n)).text());`,
      'let token;',
    ),
  );
  const isolateKey = freshKey();
  const answer = recordingHost({
    fetch: async (request) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return textAnswer(request, new URL(request.url).pathname);
    },
  }).fetch;
  const ran = await Promise.all(
    [0, 1, 2].map((n) =>
      sandbox.run(component, {
        isolateKey,
        event: { n, slow: n === 2 },
        host: { ...recordingHost(), fetch: answer },
      }),
    ),
  );
  expect(ran.map(({ outcome }) => outcome.ok)).toEqual([true, true, true]);
  expect(ran.map(({ host }) => host.events.length)).toEqual([1, 1, 1]);
});

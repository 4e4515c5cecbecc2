import { expect, test } from 'vitest';
import { accountLimits } from '@headwater/shared';
import { DescribeClient } from '../../sandbox-runtime/src/pool/describe-client.ts';
import { IdleWords } from '../../sandbox-runtime/src/pool/idle-words.ts';

/*
 * Messages of a process that follows the protocol never count against it; any further message does.
 */

const { maxLogLinesPerRun, maxFetchesPerRun } = accountLimits();
const MANY = 20_000;

test('each request may be aborted once, also after the end of its run and the beginning of others', () => {
  const words = new IdleWords();
  for (let i = 0; i < 2 * MANY; i++) words.heard('fetch', true);
  words.taskBegan();
  for (let i = 0; i < 2 * MANY; i++) words.heard('fetch-abort', i % 2 === 0);
  for (let i = 0; i < MANY; i++) words.heard('fetch-abort', false);
  expect(() => words.heard('fetch-abort', false)).toThrow('messages about nothing');
});

test('requests of runs that are over, which are not made, give no aborts', () => {
  const words = new IdleWords();
  for (let i = 0; i < MANY / 2; i++) words.heard('fetch', false);
  for (let i = 0; i < MANY / 2; i++) words.heard('fetch-abort', false);
  expect(() => words.heard('fetch-abort', false)).toThrow('messages about nothing');
});

test('output of a loading component is allowed up to the limits of a run', () => {
  const client = new DescribeClient(
    { stepName: undefined, memoryLimit: 'memoryMb', mayRepeat: false },
    () => undefined,
  );
  const line = { level: 'info', atMs: 1, message: 'a' } as const;
  const request = { url: 'https://example.com/', method: 'GET', headers: [], redirect: 'follow' } as const;
  const log = () => client.receive({ kind: 'log', run: 1, line }, () => undefined);
  const fetch = (call: number) =>
    client.receive({ kind: 'fetch', run: 1, call, request: { ...request, headers: [] } }, () => undefined);
  // One more says that the rest is dropped.
  for (let i = 0; i <= maxLogLinesPerRun; i++) expect(log()).toBe(true);
  expect(log).toThrow('maxLogLinesPerRun');
  for (let call = 1; call <= maxFetchesPerRun; call++) expect(fetch(call)).toBe(true);
  expect(() => fetch(maxFetchesPerRun + 1)).toThrow('More requests than a run makes');
});

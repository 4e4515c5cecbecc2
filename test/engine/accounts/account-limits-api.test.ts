import { afterAll, beforeAll, expect, test } from 'vitest';
import { ACCOUNT_LIMITS, accountLimits } from '../../../shared/src/index.ts';
import { type Headwater, startHeadwater } from '../../support/headwater.ts';

let hw: Headwater;
beforeAll(async () => {
  hw = await startHeadwater({ limitDefaults: { maxTimersPerRun: 77 } });
});
afterAll(() => hw.stop());

const limitsPath = () => `/accounts/${hw.accountId}/limits`;
const problemsOf = (text: string) => (JSON.parse(text) as { errors: { path: string; message: string }[] }).errors;

test('the operator sets limits of an account, sees what holds and why, and takes them back', async () => {
  const set = await hw.admin('PUT', limitsPath(), { runCpuMs: 500, memoryMb: 64 });
  const defaults = accountLimits({ maxTimersPerRun: 77 });
  const expected = {
    account_id: hw.accountId,
    limits: { ...defaults, runCpuMs: 500, memoryMb: 64 },
    defaults,
    set: { runCpuMs: 500, memoryMb: 64 },
    history: { bytes: 0, kept_from: null },
  };
  expect(set).toMatchObject({ status: 200, data: expected });
  expect((await hw.admin('GET', limitsPath())).data).toEqual(expected);
  expect((await hw.api('GET', '/users/me/limits')).data).toEqual(expected);
  const taken = await hw.admin('PUT', limitsPath(), { runCpuMs: null, memoryMb: null });
  expect(taken.data).toEqual({ ...expected, limits: defaults, set: {} });
});

test('everything wrong is told at once, each with its bounds, and nothing is set', async () => {
  const { min, max } = ACCOUNT_LIMITS.memoryMb;
  const { status, text } = await hw.admin('PUT', limitsPath(), {
    runCpuMs: 600,
    memoryMb: max + 1,
    maxDbBytes: 1.5,
    maxTmpBytes: '4096',
    memroyMb: 64,
    constructor: 1,
  });
  expect(status).toBe(400);
  expect(problemsOf(text)).toEqual(
    expect.arrayContaining([
      { path: 'memoryMb', message: `must be a whole number from ${min} to ${max} (MB)` },
      { path: 'maxDbBytes', message: expect.stringContaining('whole number') },
      { path: 'maxTmpBytes', message: expect.stringContaining('whole number') },
      { path: 'memroyMb', message: 'is not the name of an account limit' },
      { path: 'constructor', message: 'is not the name of an account limit' },
    ]),
  );
  expect(problemsOf(text)).toHaveLength(5);
  expect((await hw.api('GET', '/users/me/limits')).data.set).toEqual({});
});

test('both bounds of every limit can be set', async () => {
  for (const bound of ['min', 'max'] as const) {
    const values = Object.fromEntries(Object.entries(ACCOUNT_LIMITS).map(([name, spec]) => [name, spec[bound]]));
    expect(await hw.admin('PUT', limitsPath(), values)).toMatchObject({ status: 200, data: { limits: values } });
  }
  const nulls = Object.fromEntries(Object.keys(ACCOUNT_LIMITS).map((name) => [name, null]));
  expect((await hw.admin('PUT', limitsPath(), nulls)).data.set).toEqual({});
});

test('an account neither sets its own limits nor sees those of others', async () => {
  expect((await hw.api('PUT', limitsPath(), { runCpuMs: 500 })).status).toBe(403);
  expect((await hw.api('GET', limitsPath())).status).toBe(403);
  expect((await hw.api('GET', '/accounts')).status).toBe(403);
});

test('limits of an account that does not exist are not found', async () => {
  expect((await hw.admin('PUT', '/accounts/o_nobody/limits', { runCpuMs: 500 })).status).toBe(404);
  expect((await hw.admin('GET', '/accounts/o_nobody/limits')).status).toBe(404);
});

test('the operator pages through all accounts, newest first', async () => {
  const made = await Promise.all(['A', 'B', 'C'].map((name) => hw.admin('POST', '/accounts', { name })));
  const seen: string[] = [];
  let after: string | undefined;
  do {
    const { text } = await hw.admin('GET', '/accounts', { limit: 2, ...(after === undefined ? {} : { after }) });
    const page = JSON.parse(text) as { data: { id: string }[]; page_info: { end_cursor: string | null } };
    seen.push(...page.data.map(({ id }) => id));
    after = page.page_info.end_cursor ?? undefined;
  } while (after !== undefined);
  expect(seen).toHaveLength(4);
  expect(new Set(seen)).toEqual(new Set([hw.accountId, ...made.map(({ data }) => data.id as string)]));
  expect(seen.at(-1)).toBe(hw.accountId);
});

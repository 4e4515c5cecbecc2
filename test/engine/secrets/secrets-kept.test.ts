import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import type { AuthCache } from '../../../engine/src/connections/auth-cache.ts';
import { createConfigureRuns, type ConfigureRunParts } from '../../../engine/src/sources/configure-run.ts';
import { createRunPreparer, type PreparedRun } from '../../../engine/src/runs/prepare-run.ts';
import { runtimeOf, type SourceRuntime } from '../../../engine/src/runs/source-runtime.ts';
import {
  createKeptRedactors,
  createUnkeptRedactor,
  readyRedactor,
} from '../../../engine/src/secrets/kept-redactors.ts';
import type { MadeRedactor, Redactor } from '../../../engine/src/secrets/redactor.ts';
import { deploymentRuntimeOf } from '../../../engine/src/workflows/run/deployment-runtime.ts';
import { LIMITS } from '../../../shared/src/index.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const ODD = `abc/\\"'‹&é+ %ü`;

/** Lines of odd characters, no two of them alike: each of them has some eighty forms. */
function oddSecret(bytes: number, seed = ''): string {
  const line = (i: number) => {
    const digits = (i + 1_000).toString(ODD.length).split('');
    return seed + digits.map((digit) => ODD[Number.parseInt(digit, ODD.length)]).join('') + ODD;
  };
  let secret = '';
  for (let i = 0; ; i++) {
    const next = `${secret}${line(i)}\n`;
    if (Buffer.byteLength(next) > bytes) return secret;
    secret = next;
  }
}

/** `resolve` of connected accounts that hold these keys, by id; and how often it was asked. */
function accountsOf(keys: Readonly<Record<string, string>>) {
  const asked: string[] = [];
  const resolve: AuthCache['resolve'] = async (_, id, app) => {
    asked.push(id);
    const value = keys[id] ?? '';
    const secrets = (prop: string) => [{ name: `${prop}.api_key`, value }];
    return { ok: true, resolved: { app, auth: { api_key: value }, secrets } };
  };
  return { resolve, asked };
}

/** A source of `count` app props that use these accounts in turn. */
function sourceWith(accounts: readonly string[], count = accounts.length, id = 'dc_1'): SourceRuntime {
  const names = Array.from({ length: count }, (_, i) => `app${i}`);
  return runtimeOf(
    {
      id,
      account_id: 'o_1',
      name: 'Source',
      active: true,
      deleted: false,
      revision: 1,
      component_id: 'sc_1',
      dedupe: null,
      hooks: [],
      endpoints: null,
      configured_bytes: 100,
      configurable_props: names.map((name) => ({ name, type: 'app', app: 'keyed' })),
      configured_props: Object.fromEntries(
        names.map((name, i) => [name, { authProvisionId: accounts[i % accounts.length] }]),
      ),
    },
    { open: (_, sealed) => sealed, endpointUrl: () => '' },
  );
}

const redactorOf = (prepared: PreparedRun) => prepared.redactor as MadeRedactor;
const MB = 1024 * 1024;

/** Number of redactors that stay in memory when only caches refer to them. */
async function alive(redactors: readonly WeakRef<Redactor>[]): Promise<number> {
  // A reference is good until its turn ends.
  await new Promise((resolve) => setImmediate(resolve));
  collect();
  return redactors.filter((redactor) => redactor.deref() !== undefined).length;
}

test('a redactor that is got ready has made its forms before it is used', async () => {
  const redactor = createUnkeptRedactor([{ name: 'key', value: 'a secret of some length' }]);
  expect(redactor?.made().bytes()).toBe(0);
  const ready = await readyRedactor(redactor);
  expect(ready?.bytes()).toBeGreaterThan(0);
  expect(ready).toBe(redactor?.made());
  expect(await readyRedactor(undefined)).toBeUndefined();
});

test('sources with a large key of a connected account keep no more forms of it than a node may', async () => {
  const { resolve } = accountsOf({ apn_big: oddSecret(20_000) });
  const prepare = createRunPreparer(resolve, 16 * MB);
  const sources = Array.from({ length: 7 }, (_, i) => sourceWith(['apn_big'], 1, `dc_${i}`));
  const made: WeakRef<Redactor>[] = [];
  for (const source of sources) {
    const redactor = redactorOf(await prepare(source));
    expect(redactor.bytes()).toBeLessThan(8 * MB);
    expect(redactor.bytes()).toBeGreaterThan(4 * MB);
    made.push(new WeakRef(redactor));
  }
  const left = await alive(made);
  expect(left).toBeGreaterThan(0);
  expect(left).toBeLessThanOrEqual(3);
  expect(sources).toHaveLength(7);
});

test('a redactor is reused for as long as it is cached and its secrets are the same', async () => {
  const keys = { apn_one: 'first-key-of-it' };
  const prepare = createRunPreparer(accountsOf(keys).resolve);
  const source = sourceWith(['apn_one']);
  const first = redactorOf(await prepare(source));
  expect(redactorOf(await prepare(source))).toBe(first);
  keys.apn_one = 'second-key-of-it';
  const second = redactorOf(await prepare(source));
  expect(second.text('first-key-of-it second-key-of-it')).toBe('first-key-of-it [secret:app0.api_key]');
});

test('a run that has more secrets than it may ends with how many, and asks for no further accounts', async () => {
  const ids = Array.from({ length: 40 }, (_, i) => `apn_${i}`);
  const { resolve, asked } = accountsOf(Object.fromEntries(ids.map((id) => [id, id.padEnd(60_000, 'x')])));
  const prepared = await createRunPreparer(resolve)(sourceWith(ids));
  const limit = { name: 'maxRunSecretBytes', value: LIMITS.maxRunSecretBytes, used: 300_000 };
  expect(prepared).toMatchObject({ ok: false, fault: { code: 'RESOURCE_LIMIT', limit } });
  expect(asked).toHaveLength(5);
});

test('variables, accounts and props count together, and equal values count once', async () => {
  const half = 'h'.repeat(LIMITS.maxRunSecretBytes / 2);
  const prepare = createRunPreparer(accountsOf({ apn_half: half }).resolve);
  const source = sourceWith(['apn_half']);
  const same = Array.from({ length: 10 }, (_, i) => ({ name: `env.A${i}`, value: half }));
  expect(await prepare(source, same)).toMatchObject({ ok: true });
  const full = [{ name: 'env.B', value: half.replaceAll('h', 'i') }];
  expect(await prepare(source, full)).toMatchObject({ ok: true });
  expect(await prepare(source, [...full, { name: 'env.C', value: 'a-letter-too-many' }])).toMatchObject({
    ok: false,
    fault: { code: 'RESOURCE_LIMIT', limit: { used: LIMITS.maxRunSecretBytes + 17 } },
  });
});

test('props that all name the same account are one secret', async () => {
  const { resolve, asked } = accountsOf({ apn_big: oddSecret(20_000) });
  const source = sourceWith(['apn_big'], 300);
  const prepared = await createRunPreparer(resolve)(source);
  if (!prepared.ok) throw new Error(prepared.fault.message);
  expect(Object.values(prepared.props)).toEqual(
    Array(300).fill(expect.objectContaining({ auth: { api_key: expect.any(String) } })),
  );
  expect(asked).toEqual(['apn_big']);
  expect(redactorOf(prepared).bytes()).toBeLessThan(8 * MB);
  // Each gets all of it.
  expect(await createRunPreparer(resolve)(sourceWith(['apn_big'], 500))).toMatchObject({
    ok: false,
    fault: { code: 'RESOURCE_LIMIT', limit: { name: 'maxRunAuthBytes', value: LIMITS.maxRunAuthBytes } },
  });
});

test('a workflow of many steps with large secrets keeps no forms with its version', async () => {
  const steps = Array.from({ length: 7 }, (_, i) => ({
    id: `st_${i}`,
    namespace: `step${i}`,
    componentId: 'sc_1',
    configuredProps: { token: { $sealed: JSON.stringify(oddSecret(20_000, `s${i}`)) } },
    dynamicProps: [],
    env: [],
  }));
  const component = { bundleHash: 'hash', configurableProps: [{ name: 'token', type: 'string' }] };
  const version = deploymentRuntimeOf(
    {
      id: 'd_1',
      workflowId: 'p_1',
      accountId: 'o_1',
      version: 1,
      triggers: [],
      settings: { memoryMb: 128, retries: 0, autoDeploy: true },
      steps,
      components: steps.map(() => component),
    },
    { open: (_, sealed) => sealed, endpointUrl: () => '' },
    async () => undefined,
  );
  const prepare = createRunPreparer(accountsOf({}).resolve, 16 * MB);
  const made: WeakRef<Redactor>[] = [];
  for (const step of version.steps) {
    const redactor = redactorOf(await prepare(step));
    made.push(new WeakRef(redactor));
  }
  expect(await alive(made)).toBeLessThanOrEqual(3);
  // Text of a step that failed before its run is redacted too.
  const last = version.steps[6];
  const line = String(last?.secrets[0]?.value).split('\n')[0] ?? '';
  expect(last?.redactor?.text(`It says ${line}.`)).toBe('It says [secret:token].');
});

test('forms are given up by the account that has more than half of them, the one used longest ago first', async () => {
  const of = (accountId: string, value: string) => {
    const redactor = createUnkeptRedactor([{ name: 'key', value }])?.made() as MadeRedactor;
    return { accountId, redactor };
  };
  const size = await (async () => {
    const { redactor } = of('o_1', 'a-key-of-one');
    await redactor.ready();
    return redactor.bytes();
  })();
  expect(size).toBeGreaterThan(30_000);
  const kept = createKeptRedactors(4.5 * size);
  const made: WeakRef<Redactor>[] = [];
  for (const [accountId, value] of [
    ['o_1', 'a-key-of-one'],
    ['o_2', 'b-key-of-two'],
    ['o_2', 'c-key-of-two'],
    ['o_2', 'd-key-of-two'],
    ['o_2', 'e-key-of-two'],
    ['o_3', 'f-key-of-six'],
  ] as const) {
    const next = of(accountId, value);
    await next.redactor.ready();
    kept.keep(next);
    made.push(new WeakRef(next.redactor));
  }
  await alive(made);
  expect(made.map((redactor) => redactor.deref() !== undefined)).toEqual([true, false, false, true, true, true]);
});

test('configuring a component fails too if its secrets are too many', async () => {
  const ids = Array.from({ length: 5 }, (_, i) => `apn_${i}`);
  const { resolve } = accountsOf(Object.fromEntries(ids.map((id) => [id, id.padEnd(60_000, 'x')])));
  const parts = {
    resolveAuth: resolve,
    limits: { get: async () => ({ hookWallMs: 60_000 }) },
    readBundle: () => Promise.reject(new Error('It goes on')),
  } as unknown as ConfigureRunParts;
  const run = createConfigureRuns(parts);
  const form = (accounts: string[], bytes: number) => ({
    accountId: 'o_1',
    component: { id: 'sc_1' },
    props: sourceWith(accounts).props,
    secrets: [{ name: 'token', value: 't'.repeat(bytes) }],
    entry: { kind: 'additional-props' as const, previousPropDefs: '{}' },
    what: 'additionalProps',
  });
  const limit = { name: 'maxRunSecretBytes', value: LIMITS.maxRunSecretBytes };
  await expect(run(form(ids, 10))).rejects.toMatchObject({ code: 'RESOURCE_LIMIT', limit });
  await expect(run(form(ids.slice(1), 30_000))).rejects.toMatchObject({ code: 'RESOURCE_LIMIT', limit });
  await expect(run(form(ids.slice(1), 10))).rejects.toThrow('It goes on');
});

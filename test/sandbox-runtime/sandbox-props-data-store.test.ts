import type { DataStoreAnswer, DataStoreCall } from '@headwater/sandbox-runtime';
import type { RunProp } from '@headwater/shared';
import { describe, expect, test } from 'vitest';
import { type RecordingHost, recordingHost } from '../support/run-host.ts';
import { type RunOptions, sandboxForFile } from '../support/sandbox-kit.ts';

const sandbox = sandboxForFile();

interface StoreHost extends RecordingHost {
  calls: DataStoreCall[];
  records: Map<string, string>;
  mostAtOnce: number;
}

/** A host with one store, of pages of two records. */
function storeHost(answerFirst?: (call: DataStoreCall) => DataStoreAnswer | undefined): StoreHost {
  const records = new Map<string, string>();
  let open = 0;
  const host: StoreHost = {
    ...recordingHost(),
    calls: [],
    records,
    mostAtOnce: 0,
    async dataStore(call) {
      host.calls.push(call);
      host.mostAtOnce = Math.max(host.mostAtOnce, ++open);
      await new Promise(setImmediate);
      open -= 1;
      return answerFirst?.(call) ?? answerOf(records, call);
    },
  };
  return host;
}

function answerOf(
  records: Map<string, string>,
  { op, key = '', valueJson = '', cursor }: DataStoreCall,
): DataStoreAnswer {
  const page = (of: (record: [string, string]) => unknown): DataStoreAnswer => {
    const from = Number(cursor ?? 0);
    const items = [...records].slice(from, from + 2).map(of);
    return {
      ok: true,
      json: JSON.stringify({ items, ...(from + 2 < records.size ? { cursor: String(from + 2) } : {}) }),
    };
  };
  switch (op) {
    case 'get':
      return records.has(key) ? { ok: true, json: records.get(key) as string } : { ok: true };
    case 'set':
      records.set(key, valueJson);
      return { ok: true };
    case 'has':
      return { ok: true, json: String(records.has(key)) };
    case 'delete':
      return { ok: true, json: String(records.delete(key)) };
    case 'clear':
      records.clear();
      return { ok: true };
    case 'keys':
      return page(([name]) => name);
    case 'entries':
      return page(([name, json]): unknown => [name, JSON.parse(json)]);
  }
}

const STORE: Record<string, RunProp> = { ds: { kind: 'data-store', id: 'ds_1' } };

/** Runs a body with `this.ds`, and returns its result. */
async function valueOf(body: string, host: StoreHost = storeHost(), options: RunOptions = {}): Promise<unknown> {
  const code = `export default { name: 't', version: '1', props: { ds: { type: 'data_store' } },
    async run() { this.$emit((await (async () => { ${body} })()) ?? null); } };`;
  const { outcome } = await sandbox.run(code, { props: STORE, ...options, host });
  if (!outcome.ok) throw new Error(`${outcome.fault.code}: ${outcome.fault.message}`);
  return host.data()[0];
}

describe('props: data_store', () => {
  test('props: data_store: get returns stored values, and undefined for a missing key', async () => {
    expect(
      await valueOf(
        `await this.ds.set('a', { n: [1, null, 'x'] }); return [await this.ds.get('a'), typeof await this.ds.get('b')];`,
      ),
    ).toEqual([{ n: [1, null, 'x'] }, 'undefined']);
  });

  test('props: data_store: has, delete and clear', async () => {
    expect(
      await valueOf(`await this.ds.set('a', 1); await this.ds.set('b', 2);
        const seen = [await this.ds.has('a'), await this.ds.delete('a'), await this.ds.has('a'), await this.ds.delete('a')];
        await this.ds.clear();
        return [...seen, await this.ds.keys()];`),
    ).toEqual([true, true, false, false, []]);
  });

  test('props: data_store: keys and entries are whole however many pages they take, and the store can be iterated', async () => {
    const host = storeHost();
    expect(
      await valueOf(
        `for (const k of 'abcde') await this.ds.set(k, k + k);
         const seen = []; for await (const [k, v] of this.ds) { seen.push(k + v); if (seen.length === 3) break; }
         return [await this.ds.keys(), await this.ds.entries(), seen];`,
        host,
      ),
    ).toEqual([['a', 'b', 'c', 'd', 'e'], ['a', 'b', 'c', 'd', 'e'].map((k) => [k, k + k]), ['aaa', 'bbb', 'ccc']]);
    // Iterating stops asking for pages when the loop does.
    expect(host.calls.filter(({ op }) => op === 'entries')).toHaveLength(3 + 2);
  });

  test('props: data_store: a ttl goes with the value, in seconds', async () => {
    const host = storeHost();
    await valueOf(
      `await this.ds.set('a', 1, { ttl: 60 }); await this.ds.set('b', 1, {}); await this.ds.set('c', 1, { ttl: null });`,
      host,
    );
    expect(host.calls.map(({ ttlSeconds }) => ttlSeconds)).toEqual([60, undefined, undefined]);
    for (const ttl of ['0', '-1', '1.5', `'60'`, 'NaN', '1e15'])
      await expect(valueOf(`await this.ds.set('a', 1, { ttl: ${ttl} });`)).rejects.toThrow(
        'ttl must be a whole number of seconds from 1 to',
      );
  });

  test('props: data_store: a value without a JSON form is a clear error, and nothing is stored', async () => {
    const host = storeHost();
    for (const [value, why] of [
      ['undefined', 'it is undefined'],
      ['() => 1', 'it is a function'],
      ['1n', 'BigInt'],
      ['(() => { const a = {}; a.a = a; return a; })()', 'circular'],
    ] as const)
      await expect(valueOf(`await this.ds.set('key', ${value});`, host)).rejects.toThrow(
        new RegExp(`The value for 'key' cannot be turned into JSON: .*${why}`),
      );
    await expect(valueOf(`await this.ds.set({}, 1);`, host)).rejects.toThrow(
      'A key of a data store must be a string, not object',
    );
    await expect(valueOf(`await this.ds.get('');`, host)).rejects.toThrow('cannot be empty');
    await expect(valueOf(`await this.ds.get('x'.repeat(1025));`, host)).rejects.toThrow(
      'RESOURCE_LIMIT: A key of a data store has 1 025 bytes; the limit maxDataStoreKeyBytes is 1 024 bytes',
    );
    expect(host.calls).toEqual([]);
  });

  test('a value over the limit and one call too many are LimitErrors', async () => {
    const account = { maxDataStoreValueBytes: 1024, maxDataStoreCallsPerRun: 10 };
    await expect(valueOf(`await this.ds.set('a', 'x'.repeat(2000));`, storeHost(), { account })).rejects.toThrow(
      'RESOURCE_LIMIT: A value for a data store has 2 002 bytes of JSON; the limit maxDataStoreValueBytes is 1 024 bytes',
    );
    const host = storeHost();
    await expect(valueOf(`for (;;) await this.ds.get('a');`, host, { account })).rejects.toThrow(
      'RESOURCE_LIMIT: The run made 11 calls on data stores; the limit maxDataStoreCallsPerRun is 10',
    );
    expect(host.calls).toHaveLength(10);
  });

  test('a refusal of the store is thrown, with its limit if a limit caused it', async () => {
    const full = { name: 'maxDataStoreRecords', value: 5, used: 6 } as const;
    const host = storeHost(({ op }) =>
      op === 'set' ? { ok: false, message: 'full', limit: full } : { ok: false, message: 'gone' },
    );
    expect(
      await valueOf(
        `const said = []; for (const call of [() => this.ds.set('a', 1), () => this.ds.get('a')])
        try { await call(); } catch (e) { said.push([e.name, e.message, e.limit]); } return said;`,
        host,
      ),
    ).toEqual([
      ['LimitError', 'The data store would have 6 records; the limit maxDataStoreRecords is 5', full],
      ['Error', 'The data store did not get: gone', null],
    ]);
  });

  test('a run reads what it wrote also where it did not wait, and reads go side by side, at most four', async () => {
    const host = storeHost();
    expect(
      await valueOf(
        `void this.ds.set('a', 1); const first = this.ds.get('a'); void this.ds.set('a', 2); const second = this.ds.get('a');
         const many = await Promise.all(Array.from({ length: 40 }, () => this.ds.get('a')));
         return [await first, await second, many.every((v) => v === 2)];`,
        host,
      ),
    ).toEqual([1, 2, true]);
    expect(host.mostAtOnce).toBeGreaterThan(1);
    expect(host.mostAtOnce).toBeLessThanOrEqual(4);
  });

  test('a store that fails does not keep the calls behind it waiting', async () => {
    const host = storeHost(() => {
      throw new Error('the database is away');
    });
    expect(
      await valueOf(
        `return (await Promise.allSettled([this.ds.set('a', 1), this.ds.get('a')])).map((r) => r.reason.message);`,
        host,
      ),
    ).toEqual([
      'The data store did not set: the store did not answer',
      'The data store did not get: the store did not answer',
    ]);
  });

  test('a write that a run began is stored even if the run does not await it', async () => {
    const host = storeHost();
    const code = `export default { name: 't', version: '1', run() { for (let i = 0; i < 5; i++) void this.ds.set('k' + i, i); } };`;
    const { outcome } = await sandbox.run(code, { props: STORE, host });
    expect([outcome.ok, [...host.records.keys()]]).toEqual([true, ['k0', 'k1', 'k2', 'k3', 'k4']]);
  });

  test('a read that is open when the run ends is aborted, and the run ends all the same', async () => {
    let aborted = false;
    const host: StoreHost = storeHost();
    host.dataStore = (_call, signal) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          aborted = true;
          resolve({ ok: false, message: 'over' });
        });
      });
    const { outcome } = await sandbox.run(
      `export default { name: 't', version: '1', async run() { void this.ds.get('a'); await new Promise((r) => setTimeout(r)); } };`,
      { props: STORE, host, wallMs: 1_500 },
    );
    expect([outcome.ok, aborted]).toEqual([true, true]);
  });

  test('options of a prop can be the keys of the store that is chosen beside it', async () => {
    const host = storeHost();
    host.records.set('k1', '1').set('k2', '2');
    const code = `const app = { type: 'app', app: 'data_stores', propDefinitions: { key: { type: 'string', async options({ dataStore }) { return dataStore.keys(); } } } };
      export default { name: 't', version: '1', props: { app, ds: { type: 'data_store' }, key: { propDefinition: [app, 'key', ({ ds }) => ({ dataStore: ds })] } }, run() {} };`;
    const { outcome } = await sandbox.run(code, {
      props: STORE,
      host,
      entry: { kind: 'options', prop: 'key', page: 0 },
    });
    expect(outcome.ok && JSON.parse(outcome.result ?? '')).toEqual({
      options: [
        { label: 'k1', value: 'k1' },
        { label: 'k2', value: 'k2' },
      ],
    });
  });
});

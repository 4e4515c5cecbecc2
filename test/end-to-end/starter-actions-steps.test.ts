import { describe, expect, test } from 'vitest';
import type { DataStoreAnswer, DataStoreCall } from '../../sandbox-runtime/src/index.ts';
import type { RunProp } from '../../shared/src/index.ts';
import { recordingHost, textAnswer } from '../support/run-host.ts';
import { sandboxForFile } from '../support/sandbox-kit.ts';
import { CANCEL_URL, RESUME_URL, runStep } from '../support/step-kit.ts';
import { readStarter } from '../support/starter.ts';

const sandbox = sandboxForFile();
const STEPS = { trigger: { event: { id: 'a', n: 2, list: ['x'] }, context: {} } };

/** Runs an action of the registry as a step; texts in its props may have expressions. */
async function step(
  key: string,
  values: Record<string, unknown>,
  host = recordingHost(),
  more: Record<string, RunProp> = {},
) {
  const props = Object.fromEntries(
    Object.entries(values).map(([name, value]): [string, RunProp] => [name, { kind: 'template', value }]),
  );
  const options = { host, steps: STEPS, namespace: 'step', props: { ...props, ...more } };
  return runStep(sandbox.run, await readStarter(key), options);
}

/** A store as the node answers for it. */
function storeOf(records: Map<string, string>): (call: DataStoreCall) => Promise<DataStoreAnswer> {
  return async ({ op, key = '', valueJson = '' }) => {
    switch (op) {
      case 'get': {
        const json = records.get(key);
        return { ok: true, ...(json !== undefined && { json }) };
      }
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
      default:
        return {
          ok: true,
          json: `{"items":[${[...records].map(([name, json]) => `[${JSON.stringify(name)},${json}]`).join(',')}]}`,
        };
    }
  };
}

describe('data stores', () => {
  const records = new Map<string, string>();
  const inStore = (key: string, values: Record<string, unknown> = {}) =>
    step(key, values, recordingHost({ dataStore: storeOf(records) }), {
      dataStore: { kind: 'data-store', id: 'ds_own' },
    });

  test('records are set, found, counted, listed and deleted', async () => {
    const set = await inStore('data_store-set-value', {
      key: '{{steps.trigger.event.id}}',
      value: '{{steps.trigger.event}}',
    });
    expect(set).toMatchObject({
      returned: { key: 'a', value: STEPS.trigger.event, wasSet: true },
      exported: { $summary: 'Set a' },
    });
    expect((await inStore('data_store-get-value', { key: 'a' })).returned).toEqual(STEPS.trigger.event);
    expect((await inStore('data_store-has-record', { key: 'b', addIfMissing: true })).returned).toBe(false);
    const seen = await inStore('data_store-has-record', { key: 'b', exitIfThere: '{{"true"}}' });
    expect(seen).toMatchObject({
      returned: undefined,
      record: { flows: [{ kind: 'exit', reason: 'b is there already' }] },
    });
    expect(
      (await inStore('data_store-increment-value', { key: 'n', amount: '{{steps.trigger.event.n}}' })).returned,
    ).toEqual({ key: 'n', value: 2 });
    expect((await inStore('data_store-list-records', { keysOnly: true, limit: '{{"2"}}' })).returned).toEqual([
      'a',
      'b',
    ]);
    expect((await inStore('data_store-delete-record', { key: 'a' })).returned).toEqual({ deleted: true });
    expect((await inStore('data_store-delete-record')).outcome).toMatchObject({
      fault: { message: expect.stringContaining('Give a key') },
    });
  });
});

test('a delay asks for its time and answers the links', async () => {
  const ran = await step('delay-wait', { duration: '{{steps.trigger.event.n}}', unit: 'hours' });
  expect(ran.record.flows).toEqual([{ kind: 'delay', ms: 7_200_000 }]);
  expect(ran).toMatchObject({
    returned: { resume_url: RESUME_URL, cancel_url: CANCEL_URL },
    exported: { $summary: 'Waits for 2 hours' },
  });
  const long = await step('delay-wait', { duration: 366, unit: 'days' });
  expect(long).toMatchObject({
    outcome: { fault: { message: expect.stringContaining('365 days') } },
    record: { flows: [] },
  });
});

test('a filter lets the workflow go on, or ends it with its reason', async () => {
  const holds = await step('filter-continue-if', {
    value: '{{steps.trigger.event.list}}',
    condition: 'contains',
    other: 'x',
  });
  expect(holds).toMatchObject({ returned: true, record: { flows: [] } });
  const ends = await step('filter-continue-if', { value: '{{steps.trigger.event.n}}', other: 3, reason: 'Not today' });
  expect(ends).toMatchObject({ returned: undefined, record: { flows: [{ kind: 'exit', reason: 'Not today' }] } });
});

test('a request is sent as it is configured, and its answer is returned', async () => {
  const host = recordingHost({ fetch: async (request) => textAnswer(request, 'fine') });
  const url = 'https://a.test/{{steps.trigger.event.id}}';
  const ran = await step('http-send-request', { url, method: 'POST', body: { n: '{{steps.trigger.event.n}}' } }, host);
  expect(ran.returned).toEqual({ status: 200, headers: { 'content-type': 'text/plain' }, body: 'fine' });
  expect(ran.exported['$summary']).toBe(`POST https://a.test/a answered with status 200`);
  const [request] = host.requests;
  expect(request).toMatchObject({ url: 'https://a.test/a', method: 'POST' });
  expect(Buffer.from(request?.body ?? []).toString('utf8')).toBe('{"n":2}');
});

import { describe, expect, test } from 'vitest';
import { charsIn, lateList, lateRecord, RawJson, recordParts, recordToJson } from '../../api/src/raw-json.ts';
import { presentWorkflow } from '../../api/src/resources/workflow.ts';
import { presentWorkflowTest } from '../../api/src/resources/workflow-test.ts';
import type { TestedStep, WorkflowRecord } from '../../engine/src/index.ts';
import { LIMITS } from '../../shared/src/index.ts';
import { fc } from '../support/properties.ts';

/** JSON of one value of maximum length. JSON may write each of its characters as six. */
const LONGEST_PART = 6 * LIMITS.maxPropValueBytes + 16 * 1024;

const lengthsOf = (parts: Iterable<string>) => [...parts].map((part) => part.length);

test('JSON made late equals JSON made at once', () => {
  const keys = fc.string({ unit: 'binary', maxLength: 8 });
  // Some long enough to be parts of their own.
  const values = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.constantFrom('x'.repeat(20_000), '"'.repeat(9_000), [], {}),
  );
  const records = fc.dictionary(keys, fc.oneof(values, fc.constant(undefined)), { maxKeys: 6 });
  const property = fc.property(records, fc.array(fc.oneof(values, records), { maxLength: 6 }), (record, list) => {
    const late = { record: lateRecord(record), list: lateList(list), lists: lateList([lateList(list)]), left: 1 };
    expect(recordToJson(late)).toBe(JSON.stringify({ record, list, lists: [list], left: 1 }));
    // It can be asked for again.
    expect(recordToJson(late)).toBe(recordToJson({ ...late, raw: new RawJson('0') }).replace(/,"raw":0\}$/, '}'));
  });
  fc.assert(property, { numRuns: 200 });
});

test('its size is known without making it', () => {
  const property = fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })), (record) => {
    const chars = charsIn(record);
    const json = JSON.stringify(record);
    // Each character may be written as six, and a number with two dozen.
    expect(8 * chars).toBeGreaterThanOrEqual(json.length);
    expect(chars).toBeLessThanOrEqual(5 * json.length);
    const late = charsIn({ list: lateList([lateRecord(record)]), raw: new RawJson(json, json) });
    expect(late).toBe(charsIn({ list: [record] }) + 'raw'.length + 4 + 2 * json.length);
  });
  fc.assert(property);
  expect(charsIn([new RawJson('x'.repeat(1_000)), 'y'.repeat(1_000)])).toBeGreaterThan(2_000);
});

test('nothing of it is made before it is asked for, and one part at a time', () => {
  let made = 0;
  const item = {
    toJSON() {
      made++;
      return 'x'.repeat(20_000);
    },
  };
  const parts = recordParts({ list: lateList(Array.from({ length: 10 }, () => item)), one: lateRecord({ item }) });
  expect(made).toBe(0);
  parts.next();
  parts.next();
  expect(made).toBeGreaterThan(0);
  expect(made).toBeLessThan(4);
  expect([...parts].length).toBeGreaterThan(7);
  expect(made).toBe(11);
});

describe('the answer of megabytes is made in parts of one value each', () => {
  test('for a workflow', () => {
    const value = '\u0001'.repeat(LIMITS.maxPropValueBytes / 6);
    const names = Array.from({ length: 16 }, (_, i) => `p${i}`);
    const step = {
      id: 'c_1',
      namespace: 'a',
      componentId: 'sc_1',
      configuredProps: Object.fromEntries(names.map((name) => [name, value])),
      configurableProps: names.map((name) => ({ name, type: 'string', default: value })),
      onError: 'fail',
    } as const;
    const workflow: WorkflowRecord = {
      id: 'p_1',
      userId: 'u_1',
      name: 'W',
      nameSlug: 'w',
      active: true,
      deploymentId: 'd_1',
      version: 1,
      latestDeploymentId: 'd_1',
      triggers: [],
      settings: { memoryMb: 128, retries: 0, autoDeploy: true },
      revision: 1,
      createdAt: new Date(0),
      updatedAt: new Date(0),
      steps: Array.from({ length: 4 }, () => step),
    };
    const answer = presentWorkflow(workflow);
    const lengths = lengthsOf(recordParts(answer));
    expect(lengths.reduce((sum, length) => sum + length)).toBeGreaterThan(8_000_000);
    expect(Math.max(...lengths)).toBeLessThan(LONGEST_PART);
    const [shown] = JSON.parse(recordToJson(answer)).steps;
    expect(shown).toEqual({
      id: 'c_1',
      namespace: 'a',
      component_id: 'sc_1',
      props: step.configuredProps,
      configurable_props: step.configurableProps,
      retries: null,
      on_error: 'fail',
    });
  });

  test('for a test of a workflow', () => {
    const body = Buffer.alloc(LIMITS.shownStepBytes, 1);
    const response = { status: 200, headers: {}, body, isText: true, isCut: true, immediate: false };
    const step: TestedStep = {
      namespace: 'a',
      status: 'done',
      exports: '{}',
      responds: [response],
      logs: Array.from({ length: 100 }, () => ({ atMs: 1, level: 'info', message: '\u0001'.repeat(9_000) })),
      sends: [{ kind: 'http', payload: '{"n":1}' }],
      startedAt: new Date(0),
      endedAt: new Date(1),
    };
    const steps = Array.from({ length: 4 }, () => step);
    const answer = presentWorkflowTest({ deploymentId: 'd_1', status: 'succeeded', event: '{}', context: '{}', steps });
    const lengths = lengthsOf(recordParts(answer));
    expect(lengths.reduce((sum, length) => sum + length)).toBeGreaterThan(20_000_000);
    expect(Math.max(...lengths)).toBeLessThan(LONGEST_PART);
    const shown = JSON.parse(recordToJson(answer)).steps[3];
    expect(shown).toMatchObject({ flow: null, error: null, sends: [{ kind: 'http', payload: { n: 1 } }], ended_at: 1 });
    expect(shown.responds[0]).toMatchObject({ body: body.toString(), is_base64: false, body_truncated: true });
  });
});

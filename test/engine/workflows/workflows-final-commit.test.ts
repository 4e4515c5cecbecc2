import { expect, test } from 'vitest';
import { createRedactor } from '../../../engine/src/secrets/redactor.ts';
import { type ExecutionFault, type FinalCommit, runCommitOf } from '../../../engine/src/runs/commit/final-commit.ts';

const SECRET = 'a-secret-of-the-second-step';
const redactor = createRedactor([{ name: 'steps.second.key', value: SECRET }]);
const STARTED_AT_MS = 1_700_000_000_000;

/** A sender may prove its identity with a step's secret, so an event can contain one. */
const finalOf = (failure?: ExecutionFault): FinalCommit => ({
  execution: {
    key: { id: 'exec_1', accountId: 'o_1', workflowId: 'p_1', deploymentId: 'd_1' },
    lease: { leasedBy: 'node_a', claim: 1 },
    steps: [],
    endsWait: false,
    start: {
      kind: 'http',
      event: JSON.stringify({ headers: { 'x-key': SECRET } }),
      context: JSON.stringify({ id: 'exec_1', emitter_id: 'p_1' }),
      causedBy: undefined,
      traceId: 'exec_1',
      startedAtMs: STARTED_AT_MS,
    },
    end: { status: failure === undefined ? 'succeeded' : 'failed', endedAtMs: STARTED_AT_MS + 1 },
  },
  invocation: {
    id: 'exec_1',
    accountId: 'o_1',
    sourceId: 'p_1',
    kind: 'http',
    event: '{}',
    crashes: 0,
    attempts: 1,
    leasedBy: 'node_a',
    claim: 1,
  },
  sends: [],
  logs: ['[{"message":"a line"}]'],
  failure,
  deployment: { steps: [{}, redactor === undefined ? {} : { redactor }] },
  maxEventHops: 10,
  sealer: { currentPrefix: () => 'v2.key.', rewrap: (_, sealed) => sealed },
});

test('the error of an execution that fails before its steps, or over a limit, has no secret of any step', async () => {
  const fault = { code: 'INTERNAL', message: 'failed' } as const;
  const failed = (await runCommitOf(finalOf({ fault }))).record?.errorEvent;
  const over = (await runCommitOf(finalOf())).recordOverLimit?.({
    name: 'maxEmitsPerRun',
    value: 1,
    used: 2,
  })?.errorEvent;
  for (const told of [failed, over]) {
    expect(JSON.parse(told ?? '')).toMatchObject({ original_event: { headers: { 'x-key': expect.any(String) } } });
    expect(told).not.toContain(SECRET);
  }
});

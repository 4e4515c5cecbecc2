import { newId } from '@headwater/shared';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createWorkflowRuntimes } from '../../../engine/src/workflows/run/deployment-runtime.ts';
import { createExecutionActions } from '../../../engine/src/workflows/run/execution-actions.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { insertAccount } from '../../support/source-rows.ts';
import { insertWorkflow } from '../../support/workflow-rows.ts';
import { ECHO } from '../../support/workflow-steps.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase({ maxConnections: 1 });
});
afterAll(() => database.drop());

test('executions that have not begun are cancelled with one connection, so that cancellations do not wait for each other', async () => {
  const { sql } = database.db;
  const accountId = await insertAccount(sql);
  const { id: workflowId } = await insertWorkflow(sql, { accountId, steps: [{ namespace: 'a', code: ECHO }] });
  const id = newId('execution');
  await sql`
    insert into invocations (id, account_id, source_id, kind, event) values (${id}, ${accountId}, ${workflowId}, 'manual', '{}')`;
  const never = () => {
    throw new Error('Not asked');
  };
  const actions = createExecutionActions({
    sql,
    tokens: { read: never },
    runtimes: createWorkflowRuntimes(sql, { open: never, seal: never, endpointUrl: never } as never, never as never),
    history: { add: () => undefined } as never,
    backlogs: { queue: never },
  });
  await actions.cancel({ accountId } as never, id);
  const [row] = await sql<{ status: string }[]>`select status from executions where id = ${id}`;
  expect(row?.status).toBe('cancelled');
});

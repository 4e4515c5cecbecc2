import { randomBytes } from 'node:crypto';
import { newId } from '@headwater/shared';
import { expect, test } from 'vitest';
import { createOpenEnvironment } from '../../../engine/src/environment/open-environment.ts';
import { fixedKeys } from '../../../engine/src/secrets/master-key.ts';
import { rotateKeys } from '../../../engine/src/secrets/rotate-keys.ts';
import { createSealer } from '../../../engine/src/secrets/seal.ts';
import { openContext } from '../../../engine/src/workflows/run/execution-context.ts';

import { insertAccount } from '../../support/source-rows.ts';
import { databaseOfTests } from '../../support/database-of-tests.ts';

const old = { id: 'oldoldoldold', key: randomBytes(32) };
const young = { id: 'youngyoungyo', key: randomBytes(32) };

const database = databaseOfTests();

test('secrets of all versions of workflows and environment variables come under the new key', async () => {
  const { sql } = database.db;
  const accountId = await insertAccount(sql);
  const before = createSealer(fixedKeys([old]));
  const sealed = (value: string) => ({ $sealed: before.seal(accountId, JSON.stringify(value)) });
  const workflowId = newId('workflow');
  await sql`
    insert into emitters (id, kind, account_id, user_id, name, name_slug, deployed_at)
    values (${workflowId}, 'workflow', ${accountId}, ${accountId}, 'w', 'w', now())`;
  const steps = [
    { namespace: 'a', configuredProps: { plain: 'x', odd: { $sealed: ['v2.deadbeef0000.x'] } } },
    {
      namespace: 'b',
      configuredProps: { 'odd.name "1"': sealed('first'), other: sealed('second') },
    },
  ];
  for (const version of [1, 2])
    await sql`
      insert into deployments (id, account_id, workflow_id, user_id, version, triggers, steps, settings)
      values (${newId('deployment')}, ${accountId}, ${workflowId}, ${accountId}, ${version}, '[]',
        ${JSON.stringify(steps)}::text::jsonb, '{}')`;
  for (const name of ['ONE', 'TWO'])
    await sql`
      insert into environment_variables (account_id, name, value)
      values (${accountId}, ${name}, ${before.seal(accountId, `value of ${name}`)})`;
  const executionId = newId('execution');
  await sql`
    insert into execution_waits (execution_id, account_id, workflow_id, kind, position, runs, token, wake_at, context)
    values (${executionId}, ${accountId}, ${workflowId}, 'rerun', 0, 1, '', now(), ${before.seal(accountId, '{"page":2}')}),
      (${newId('execution')}, ${accountId}, ${workflowId}, 'rerun', 0, 1, '', now(), '{"page":1}')`;
  const moved = before.seal('o_another', 'moved');
  await sql`insert into environment_variables (account_id, name, value) values (${accountId}, 'MOVED', ${moved})`;

  const result = await rotateKeys({ sql, sealer: createSealer(fixedKeys([young, old])), batchSize: 2 });
  expect(result).toMatchObject({ rewrapped: 7, complete: true });
  expect(result.unopened).toEqual([
    expect.stringContaining(`environment of ${accountId}, variable MOVED, key oldoldoldold`),
  ]);

  const after = createSealer(fixedKeys([young]));
  const rows = await sql<{ steps: typeof steps }[]>`select steps from deployments`;
  expect(rows).toHaveLength(2);
  for (const { steps: now } of rows) {
    const props = now[1]?.configuredProps as Record<string, { $sealed: string } | undefined>;
    expect(after.open(accountId, props['odd.name "1"']?.$sealed ?? '')).toBe('"first"');
    expect(after.open(accountId, props['other']?.$sealed ?? '')).toBe('"second"');
    expect(now[0]).toEqual(steps[0]);
  }
  const [wait] = await sql<
    { context: string }[]
  >`select context from execution_waits where execution_id = ${executionId}`;
  expect(openContext(after, accountId, wait?.context ?? '')).toBe('{"page":2}');
  expect(openContext(after, accountId, '{"page":1}')).toBe('{"page":1}');
  const environment = createOpenEnvironment({ sql, sealer: after });
  expect({ ...(await environment.open(accountId, ['ONE', 'TWO'])) }).toEqual({
    ONE: 'value of ONE',
    TWO: 'value of TWO',
  });
});

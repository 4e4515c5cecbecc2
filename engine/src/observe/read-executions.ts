import { idFloor, LIMITS, notFound } from '@headwater/shared';
import type { ExecutionRecord, Executions } from '../contract/index.ts';
import { emitterExists, isWorkflow } from '../events/index.ts';
import { inPageOrder, notACursor, type Sql } from '../db/index.ts';
import {
  countExecutions,
  listExecutionIds,
  readExecutions,
  readExecutionSteps,
  type StepsOfExecution,
} from './read-executions.sql.ts';

/** Executions of workflows, for the API. */
export function createExecutionReads(sql: Sql): Pick<Executions, 'list' | 'get'> {
  return {
    async list({ accountId }, workflowId, { limit, after, before, statuses, since, until }) {
      const isKnown = isWorkflow(workflowId) && (await emitterExists(sql, accountId, workflowId));
      if (!isKnown) throw notFound('workflow', workflowId);
      const choice = {
        ...(statuses === undefined ? {} : { statuses }),
        ...(since === undefined ? {} : { fromId: idFloor('execution', since.getTime()) }),
        ...(until === undefined ? {} : { belowId: idFloor('execution', until.getTime()) }),
      };
      const slice = { limit, ...cursor('after', after), ...cursor('before', before), ...choice };
      // One after the other: a list takes one of the node's few connections.
      const ids = await listExecutionIds(sql, accountId, workflowId, slice);
      const total = await countExecutions(sql, accountId, workflowId, choice, LIMITS.maxCountedEvents);
      const records = await readExecutions(sql, accountId, ids, { maxEventBytes: LIMITS.summaryEventBytes });
      const bounds = { maxBytes: LIMITS.summaryEventBytes, maxLogBytes: LIMITS.summaryEventBytes };
      const steps = await readExecutionSteps(sql, accountId, ids, bounds);
      const items = inPageOrder(ids, records).map((record) => withSteps(record, steps.get(record.id)));
      const [first, last] = [ids[0], ids.at(-1)];
      return { items, total, ...(first && last ? { startCursor: first, endCursor: last } : {}) };
    },
    async get({ accountId }, id, { expand }) {
      const maxBytes = expand ? null : LIMITS.shownStepBytes;
      const isKnowable = EXECUTION_ID.test(id);
      // Before its steps: one that goes on meanwhile shows more of them than its status says, never
      // fewer.
      const found = isKnowable ? await readExecutions(sql, accountId, [id], { maxEventBytes: maxBytes }) : [];
      const [record] = found;
      if (record === undefined) throw notFound('execution', id);
      return withSteps(record, (await readExecutionSteps(sql, accountId, [id], { maxBytes, withProps: true })).get(id));
    },
  };
}

function withSteps(record: ExecutionRecord, found: StepsOfExecution | undefined): ExecutionRecord {
  const [firstStep] = found?.steps ?? [];
  return {
    // The record of an execution that has neither ended nor waited lacks these values; its steps
    // have them.
    ...(found === undefined ? {} : { deploymentId: found.deploymentId }),
    ...(firstStep === undefined ? {} : { startedAt: firstStep.startedAt }),
    ...record,
    steps: found?.steps ?? [],
  };
}

const EXECUTION_ID = /^exec_\w{1,64}$/;

function cursor<Name extends 'after' | 'before'>(name: Name, text: string | undefined): { [K in Name]?: string } {
  if (text === undefined || text === '') return {};
  if (EXECUTION_ID.test(text)) return { [name]: text } as { [K in Name]?: string };
  throw notACursor(name);
}

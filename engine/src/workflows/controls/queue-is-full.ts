import { HeadwaterError } from '@headwater/shared';

const RETRY_AFTER_SECONDS = 1;

/** The error for a request or a manual run when the workflow's queue is full. */
export function queueIsFull(workflowId: string, queueLimit: number): HeadwaterError {
  const message = `Workflow ${workflowId} has ${queueLimit} executions waiting, as many as its setting queue_limit allows; try again later`;
  return new HeadwaterError('RATE_LIMITED', message, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    fields: [{ path: 'settings.queue_limit', message: `${queueLimit} executions wait` }],
    limit: { name: 'queue_limit', value: queueLimit, used: queueLimit + 1 },
  });
}

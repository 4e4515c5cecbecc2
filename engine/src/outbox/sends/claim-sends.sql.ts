import { LIMITS, newId } from '@headwater/shared';
import type { DueSend, DueUpload, SentBy } from './due-send.ts';
import { hostOf } from '../transports/http/http-request.ts';
import { objectKeyOf } from '../transports/s3/s3-payload.ts';
import { addJobs, fitsClaim, mayLeaveMore, type Sql, type Transaction } from '../../db/index.ts';
import { sendLane } from './send-lane.ts';

interface ClaimedRow {
  id: string;
  workflow_id: string;
  execution_id: string;
  trace_id: string;
  kind: 'http' | 'email';
  payload: string;
  sealed: string | null;
  attempt_count: number;
}

interface ClaimedSendRow extends ClaimedRow {
  /** How many were found due, all of them in each row. */
  found: number;
  /** Its owner has retried it. */
  begins_anew: boolean;
}

/**
 * Leases up to `limit` due requests and e-mails of an account to this node, fewer if they are
 * large. Takes the longest due first. If more may be left, the same transaction adds the lane job
 * again.
 */
export async function claimSends(sql: Sql, nodeId: string, accountId: string, limit: number): Promise<DueSend[]> {
  return sql.begin(async (tx) => {
    await readInOrder(tx);
    // leased_by is null in every row and leads the order: it leads the index (as in
    // claimDeliveries).
    const rows = await tx<ClaimedSendRow[]>`
      with found as (
        select id, next_attempt_at, octet_length(payload) + coalesce(octet_length(sealed), 0) as bytes from sends
        where account_id = ${accountId} and status = 'pending' and leased_by is null and next_attempt_at <= now()
          and kind <> 's3'
        order by leased_by, next_attempt_at, id limit ${limit} for update skip locked
      ), due as (
        select id, count(*) over () as found,
          sum(bytes) over (order by next_attempt_at, id rows between unbounded preceding and 1 preceding) as bytes_before
        from found
      )
      update sends s set leased_by = ${nodeId} from due
      where s.id = due.id and ${fitsClaim(tx)}
      returning s.id, s.workflow_id, s.execution_id, s.trace_id, s.kind, s.payload, s.sealed, s.attempt_count, due.found::int4 as found,
        s.attempt_count = 0 and jsonb_array_length(s.attempts) > 0 as begins_anew`;
    if (mayLeaveMore(rows, limit)) await addJobs(tx, [sendLane(accountId)]);
    return rows.toSorted((a, b) => (a.id < b.id ? -1 : 1)).map((row) => dueOf(accountId, row));
  });
}

/**
 * Right after a burst Postgres has no statistics of it and expects few due rows. It would read and
 * sort all of them, although sends_requests, sends_uploads and sends_lines have them in order.
 */
async function readInOrder(tx: Transaction): Promise<void> {
  await tx`select set_config('enable_sort', 'off', true), set_config('enable_incremental_sort', 'off', true)`;
}

function dueOf(accountId: string, row: ClaimedSendRow): DueSend {
  const trigger = row.begins_anew ? { nextTrigger: 'manual' as const } : {};
  const { id, attempt_count: attemptCount } = row;
  const base = { id, accountId, attemptCount, content: contentOf(row), sentBy: [sentByOf(row)], ...trigger };
  return row.kind === 'email'
    ? { ...base, kind: row.kind }
    : { ...base, kind: row.kind, host: hostOf(row.payload) ?? '' };
}

interface ClaimedLineRow extends ClaimedRow {
  bucket: string;
  object_key: string;
}

interface FirstRow {
  unit_id: string | null;
  bucket: string;
  prefix: string;
}

/** Two claims at once would take halves of the same upload and wait for each other's rows. */
const CLAIM_LOCK = 4_815_163;

/**
 * Leases one due upload of an account. That is a whole one that failed before, or else the lines
 * for the bucket and prefix that have waited longest. It takes as many lines as fit one object,
 * whose name is chosen now. Empty if there is none.
 */
export async function claimUpload(sql: Sql, nodeId: string, accountId: string, nowMs: number): Promise<DueUpload[]> {
  return sql.begin(async (tx) => {
    await readInOrder(tx);
    await tx`select pg_advisory_xact_lock(${CLAIM_LOCK}::int4, hashtext(${accountId}))`;
    const [first] = await tx<FirstRow[]>`
      select unit_id, bucket, prefix from sends
      where account_id = ${accountId} and status = 'pending' and leased_by is null and next_attempt_at <= now()
        and kind = 's3'
      order by leased_by, next_attempt_at, id limit 1`;
    if (first === undefined) return [];
    const unitId = first.unit_id ?? newId('send', nowMs);
    const rows =
      first.unit_id === null
        ? await formUpload(tx, nodeId, accountId, { ...first, unitId }, nowMs)
        : await tx<ClaimedLineRow[]>`
            update sends set leased_by = ${nodeId}
            where unit_id = ${unitId} and status = 'pending' and leased_by is null
            returning id, workflow_id, execution_id, trace_id, payload, sealed, attempt_count, bucket, object_key`;
    const [one] = rows;
    if (one === undefined) return [];
    const lines = rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    const { bucket, object_key: objectKey, attempt_count: attemptCount } = one;
    const upload = { id: unitId, accountId, kind: 's3' as const, bucket, objectKey, attemptCount };
    return [{ ...upload, contents: lines.map(contentOf), sentBy: lines.map(sentByOf) }];
  });
}

/**
 * Puts together what goes into one object, and leases it in the same write, which is one of
 * thousands of rows. The index sends_lines gives no more of them than an object holds, in the order
 * of their ids, and their sizes are summed up afterwards: an upload costs the same however many
 * rows wait.
 */
async function formUpload(
  tx: Transaction,
  nodeId: string,
  accountId: string,
  { bucket, prefix, unitId }: { bucket: string; prefix: string; unitId: string },
  nowMs: number,
): Promise<ClaimedLineRow[]> {
  return tx<ClaimedLineRow[]>`
    with found as materialized (
      select id, octet_length(payload) + coalesce(octet_length(sealed), 0) as bytes from sends
      where account_id = ${accountId} and status = 'pending' and leased_by is null and next_attempt_at <= now()
        and kind = 's3' and unit_id is null and bucket = ${bucket} and prefix = ${prefix}
      order by id limit ${LIMITS.maxS3LinesPerObject}
    ), waiting as (
      select id, row_number() over w as place, sum(bytes) over w as bytes from found window w as (order by id)
    )
    update sends s set leased_by = ${nodeId}, unit_id = ${unitId}, object_key = ${objectKeyOf(prefix, unitId, nowMs)}
    from waiting where s.id = waiting.id and s.unit_id is null and (waiting.bytes <= ${LIMITS.maxS3ObjectBytes} or waiting.place = 1)
    returning s.id, s.workflow_id, s.execution_id, s.trace_id, s.payload, s.sealed, s.attempt_count, s.bucket,
      s.object_key`;
}

function contentOf({ payload, sealed }: Pick<ClaimedRow, 'payload' | 'sealed'>) {
  return sealed === null ? { payload } : { payload, sealed };
}

function sentByOf({ id, workflow_id, execution_id, trace_id }: ClaimedRow): SentBy {
  return { id, workflowId: workflow_id, executionId: execution_id, traceId: trace_id };
}

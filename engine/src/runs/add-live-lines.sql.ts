import { type ChangeLease, lockChanges, rowsOf, type Sql, type Transaction } from '../db/index.ts';
import type { EventPosition } from '../events/index.ts';

/** The invocation of a run, and its lease holder. */
export interface HeldLease {
  id: string;
  leasedBy: string;
  claim: number;
}

/** The run of a hook, which belongs to a change of its source. */
export interface HeldHook {
  id: string;
  change: ChangeLease;
}

/** Lines of one run, to be shown while it goes on. */
export interface LivePart {
  /** Unique; a part that is there already is not stored again. */
  id: string;
  accountId: string;
  emitterId: string;
  isWorkflow: boolean;
  lease: HeldLease | HeldHook;
  namespace: string | undefined;
  firstLine: number;
  /** JSON text of a list. */
  logs: string;
}

export interface AddedPart {
  id: string;
  emitterId: string;
  /** Absent for a workflow, and for one that had been stored before. */
  at?: EventPosition;
}

/**
 * Stores the lines whose run is still held by the given lease, in one transaction. Parts of sources
 * get the next positions of their emitters. Emitter rows are locked after the invocations and in
 * the order of their ids, as in commits of runs. Returns the parts that were stored.
 */
export async function addLiveLines(sql: Sql, parts: readonly LivePart[], nowMs: number): Promise<AddedPart[]> {
  const hooks = parts.flatMap(({ lease }) => ('change' in lease ? [lease] : []));
  if (hooks.length === 0) return addParts(sql, parts, [], nowMs);
  return sql.begin(async (tx) => {
    const changes = await lockChanges(
      tx,
      hooks.map(({ change }) => change),
    );
    // A source that is not deployed yet cannot be followed, and its rows may be dropped.
    const held = new Set(changes.flatMap((row) => (row.is_deployed ? [row.change_id] : [])));
    const heldHooks = hooks.filter(({ change }) => held.has(change.changeId)).map(({ id }) => id);
    return addParts(tx, parts, heldHooks, nowMs);
  });
}

/** `heldHooks`: the run ids of hooks whose change is locked. */
async function addParts(
  sql: Sql | Transaction,
  parts: readonly LivePart[],
  heldHooks: readonly string[],
  nowMs: number,
): Promise<AddedPart[]> {
  const leases = parts.map(({ lease }) => ('change' in lease ? { id: lease.id, leasedBy: '', claim: 0 } : lease));
  const rows = await sql<{ id: string; emitter_id: string; ms: number | null; seq: number | null }[]>`
    with given as (
      select * from ${rowsOf(sql, [
        ['text', parts.map((part) => part.id)],
        ['text', parts.map((part) => part.accountId)],
        ['text', parts.map((part) => part.emitterId)],
        ['int4', parts.map((part) => (part.isWorkflow ? 1 : 0))],
        ['text', leases.map(({ id }) => id)],
        ['text', leases.map(({ leasedBy }) => leasedBy)],
        ['int4', leases.map(({ claim }) => claim)],
        ['text', parts.map((part) => part.namespace ?? null)],
        ['int4', parts.map((part) => part.firstLine)],
        ['long', parts.map((part) => part.logs)],
      ])} as p(id, account_id, emitter_id, is_workflow, run_id, node, claim, namespace, first_line, logs)
    ), held as materialized (
      select i.id from invocations i
      where i.id = any(${leases.map(({ id }) => id)}::text[]) order by i.id for share of i
    ), known as (
      select l.id, l.emitter_id from live_lines l join given on given.id = l.id
    ), of_held as (
      select given.* from given join held on held.id = given.run_id
      join invocations i on i.id = given.run_id and i.leased_by = given.node and i.claim = given.claim
      union all select * from given where run_id = any(${[...heldHooks]}::text[])
    ), ours as materialized (
      select *, row_number() over (partition by emitter_id order by id) - 1 as nth
      from of_held where id not in (select id from known)
    ), states as materialized (
      select emitter_id, last_event_ms as ms, last_event_seq as seq from emitter_state
      where emitter_id in (select emitter_id from ours where is_workflow = 0) order by emitter_id for update
    ), placed as materialized (
      select ours.*, greatest(s.ms, ${nowMs}::int8) as ms,
        (case when s.ms < ${nowMs}::int8 then nth else s.seq + 1 + nth end)::int4 as seq
      from ours join states s using (emitter_id)
    ), moved as (
      update emitter_state e set last_event_ms = p.ms, last_event_seq = p.seq
      from (select emitter_id, max(ms) as ms, max(seq) as seq from placed group by emitter_id) as p
      where e.emitter_id = p.emitter_id
    ), added as (
      insert into live_lines (id, account_id, emitter_id, run_id, namespace, first_line, logs, at_ms, seq)
      select id, account_id, emitter_id, run_id, namespace, first_line, logs, ms, seq from placed
      union all
      select id, account_id, emitter_id, run_id, namespace, first_line, logs, ${nowMs}::int8, null from ours
      where is_workflow = 1
      returning id, emitter_id, at_ms, seq
    )
    select id, emitter_id, at_ms as ms, seq from added
    union all select id, emitter_id, null, null from known`;
  return rows.map(({ id, emitter_id: emitterId, ms, seq }) => ({
    id,
    emitterId,
    ...(ms === null || seq === null ? {} : { at: { ms, seq } }),
  }));
}

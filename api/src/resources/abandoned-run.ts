import type { AbandonedRunRecord } from '@headwater/engine';
import type { abandonedRunSchema, Shown } from '@headwater/shared/contract';
import { RawJson } from '../raw-json.ts';

export function presentAbandonedRun(run: AbandonedRunRecord): Shown<typeof abandonedRunSchema> {
  const { text, isCut = false } = run.event;
  return {
    id: run.id,
    source_id: run.sourceId,
    status: 'abandoned' as const,
    kind: run.kind,
    caused_by: run.causedBy ?? null,
    trace_id: run.traceId,
    event: isCut ? text : new RawJson(text),
    event_truncated: isCut,
    error: { code: 'RUN_ABANDONED', message: run.message },
    abandoned_at_ms: run.abandonedAt.getTime(),
  };
}

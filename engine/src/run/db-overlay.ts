/**
 * Values of `$.service.db` that runs on this node have set but not committed yet, by source and key. A read looks here
 * before Postgres, so that runs of one source that overlap on this node build on each other's values instead of losing
 * them. A value leaves when the run that set it has committed or failed to.
 */
export interface DbOverlay {
  set(sourceId: string, key: string, valueJson: string, runId: string): void;
  get(sourceId: string, key: string): string | undefined;
  /** Forgets what this run set, unless a later run has overwritten it. */
  release(sourceId: string, runId: string): void;
}

export function createDbOverlay(): DbOverlay {
  const sources = new Map<string, Map<string, { valueJson: string; runId: string }>>();
  return {
    set(sourceId, key, valueJson, runId) {
      let values = sources.get(sourceId);
      if (values === undefined) {
        values = new Map();
        sources.set(sourceId, values);
      }
      values.set(key, { valueJson, runId });
    },
    get: (sourceId, key) => sources.get(sourceId)?.get(key)?.valueJson,
    release(sourceId, runId) {
      const values = sources.get(sourceId);
      if (values === undefined) return;
      for (const [key, value] of values) {
        if (value.runId === runId) values.delete(key);
      }
      if (values.size === 0) sources.delete(sourceId);
    },
  };
}

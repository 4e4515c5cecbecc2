/**
 * What runs on this node do to `$.service.db`, as long as runs of the source overlap. Reads look here before Postgres, so a
 * run builds on the value that an overlapping one has set and not committed yet. A value that was set later wins, also
 * where the run that set it commits first: the earlier run then leaves its own value out.
 */
export interface DbOverlay {
  begin(sourceId: string): void;
  set(sourceId: string, key: string, valueJson: string, runId: string): void;
  /** A value that is set and not committed. */
  get(sourceId: string, key: string): string | undefined;
  /** True where another run has set the key after this one did. */
  isSuperseded(sourceId: string, key: string, runId: string): boolean;
  /** The run has committed, or failed to: what it set is in Postgres, or nowhere. */
  end(sourceId: string, runId: string): void;
}

interface SourceValues {
  running: number;
  /** The last to set each key; `valueJson` undefined once its run has ended. */
  last: Map<string, { runId: string; valueJson: string | undefined }>;
}

export function createDbOverlay(): DbOverlay {
  const sources = new Map<string, SourceValues>();
  return {
    begin(sourceId) {
      const source = sources.get(sourceId);
      if (source === undefined) sources.set(sourceId, { running: 1, last: new Map() });
      else source.running++;
    },
    set: (sourceId, key, valueJson, runId) => void sources.get(sourceId)?.last.set(key, { runId, valueJson }),
    get: (sourceId, key) => sources.get(sourceId)?.last.get(key)?.valueJson,
    isSuperseded(sourceId, key, runId) {
      const last = sources.get(sourceId)?.last.get(key);
      return last !== undefined && last.runId !== runId;
    },
    end(sourceId, runId) {
      const source = sources.get(sourceId);
      if (source === undefined) return;
      source.running--;
      if (source.running === 0) sources.delete(sourceId);
      else {
        for (const value of source.last.values()) if (value.runId === runId) value.valueJson = undefined;
      }
    },
  };
}

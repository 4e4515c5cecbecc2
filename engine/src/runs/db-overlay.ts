/**
 * Writes to `$.service.db` by overlapping runs of a source on this node. Reads look here before
 * Postgres, so a run sees uncommitted values of an overlapping run. The value set last wins, even
 * if its run commits first: the earlier run then drops its own value.
 */
export interface DbOverlay {
  begin(sourceId: string): void;
  set(sourceId: string, key: string, valueJson: string, runId: string): void;
  /** A value that is set and not committed. */
  get(sourceId: string, key: string): string | undefined;
  /** True where another run has set the key after this one, which is under way, did. */
  isSuperseded(sourceId: string, key: string, runId: string): boolean;
  /** The run has committed or failed: its values are in Postgres, or discarded. */
  end(sourceId: string, runId: string): void;
}

interface SourceValues {
  running: number;
  keys: Map<string, KeyValue>;
  /** Keys that each run under way has set. */
  keysOfRuns: Map<string, Set<string>>;
}

/** The last to set a key; `valueJson` undefined once its run has ended. */
interface KeyValue {
  runId: string;
  valueJson: string | undefined;
  /**
   * Runs under way that have set the key. At zero the entry is dropped: only these runs ask for the
   * last setter, and runs of a source may overlap without end.
   */
  setters: number;
}

export function createDbOverlay(): DbOverlay {
  const sources = new Map<string, SourceValues>();
  return {
    begin(sourceId) {
      const source = sources.get(sourceId);
      if (source === undefined) sources.set(sourceId, { running: 1, keys: new Map(), keysOfRuns: new Map() });
      else source.running++;
    },
    set(sourceId, key, valueJson, runId) {
      const source = sources.get(sourceId);
      if (source !== undefined) setValue(source, key, valueJson, runId);
    },
    get: (sourceId, key) => sources.get(sourceId)?.keys.get(key)?.valueJson,
    isSuperseded(sourceId, key, runId) {
      const last = sources.get(sourceId)?.keys.get(key);
      return last !== undefined && last.runId !== runId;
    },
    end(sourceId, runId) {
      const source = sources.get(sourceId);
      if (source === undefined) return;
      source.running--;
      if (source.running === 0) sources.delete(sourceId);
      else endRun(source, runId);
    },
  };
}

function setValue({ keys, keysOfRuns }: SourceValues, key: string, valueJson: string, runId: string): void {
  const keysOfRun = keysOfRuns.get(runId) ?? new Set();
  keysOfRuns.set(runId, keysOfRun);
  const setters = keys.get(key)?.setters ?? 0;
  keys.set(key, { runId, valueJson, setters: keysOfRun.has(key) ? setters : setters + 1 });
  keysOfRun.add(key);
}

function endRun({ keys, keysOfRuns }: SourceValues, runId: string): void {
  for (const key of keysOfRuns.get(runId) ?? []) {
    const value = keys.get(key);
    if (value === undefined) continue;
    value.setters--;
    if (value.setters === 0) keys.delete(key);
    else if (value.runId === runId) value.valueJson = undefined;
  }
  keysOfRuns.delete(runId);
}

import { type AccountLimits, type ExceededLimit, LIMITS } from '@headwater/shared';

type OutputLimits = Pick<
  AccountLimits,
  'maxEventBytes' | 'maxEmitsPerRun' | 'maxExportBytes' | 'maxSendsPerRun' | 'maxLogLinesPerRun' | 'maxRunOutputBytes'
>;

/**
 * Counts what one run puts out. The guest keeps the same counts for a clear error at the right line; this one holds where
 * the guest cannot reach it. Every method answers the limit that was gone over: the run has to end. Bytes may be given as
 * UTF-16 units; each of them is at least one byte.
 */
export class RunBudget {
  readonly #limits: OutputLimits;
  #bytes = 0;
  #emits = 0;
  #logLines = 0;
  #sends = 0;

  constructor(limits: OutputLimits) {
    this.#limits = limits;
  }

  /** `headBytes`: of its id, channel and summary. */
  takeEmit(bytes: number, headBytes: number): ExceededLimit | undefined {
    this.#emits += 1;
    const { maxEventBytes, maxEmitsPerRun } = this.#limits;
    if (bytes > maxEventBytes) return { name: 'maxEventBytes', value: maxEventBytes, used: bytes };
    if (this.#emits > maxEmitsPerRun) return { name: 'maxEmitsPerRun', value: maxEmitsPerRun, used: this.#emits };
    return this.takeBytes(bytes + headBytes);
  }

  get logLines(): number {
    return this.#logLines;
  }

  takeLogLine(bytes: number): ExceededLimit | undefined {
    this.#logLines += 1;
    const { maxLogLinesPerRun } = this.#limits;
    // One more line than the limit: the last one says that lines were dropped.
    if (this.#logLines > maxLogLinesPerRun + 1)
      return { name: 'maxLogLinesPerRun', value: maxLogLinesPerRun, used: this.#logLines };
    return this.takeBytes(bytes);
  }

  takeSend(bytes: number): ExceededLimit | undefined {
    this.#sends += 1;
    const { maxSendsPerRun } = this.#limits;
    if (this.#sends > maxSendsPerRun) return { name: 'maxSendsPerRun', value: maxSendsPerRun, used: this.#sends };
    return this.takeBytes(bytes);
  }

  /** A value of `$.service.db` or of `$.export`. Small ones count for what keeping them costs: or a run could leave millions. */
  takeNamedValue(bytes: number): ExceededLimit | undefined {
    return this.takeBytes(bytes + LIMITS.dbEntryOverheadBytes);
  }

  takeExport(name: string, json: string): ExceededLimit | undefined {
    const { maxExportBytes: value } = this.#limits;
    if (json.length > value) return { name: 'maxExportBytes', value, used: json.length };
    return this.takeNamedValue(name.length + json.length);
  }

  takeBytes(bytes: number): ExceededLimit | undefined {
    this.#bytes += bytes;
    const { maxRunOutputBytes } = this.#limits;
    if (this.#bytes <= maxRunOutputBytes) return undefined;
    return { name: 'maxRunOutputBytes', value: maxRunOutputBytes, used: this.#bytes };
  }
}

import { type AccountLimits, type ExceededLimit, LIMITS } from '@headwater/shared';

type OutputLimits = Pick<
  AccountLimits,
  | 'maxEventBytes'
  | 'maxEmitsPerRun'
  | 'maxExportBytes'
  | 'maxResultBytes'
  | 'maxDbValueBytes'
  | 'maxSendsPerRun'
  | 'maxLogLinesPerRun'
  | 'maxRunOutputBytes'
>;

/**
 * Counts the output of one run. The guest keeps the same counts, for a clear error at the right
 * line; hostile code cannot change these. Each method returns the exceeded limit, which ends the
 * run. Texts count in bytes of UTF-8. Heads count as JSON in the process and by their content in
 * the host, which is never more.
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

  /**
   * A value of `$.service.db` or `$.export`. It also counts its storage overhead, or a run could
   * leave millions of small ones.
   */
  takeNamedValue(bytes: number): ExceededLimit | undefined {
    return this.takeBytes(bytes + LIMITS.dbEntryOverheadBytes);
  }

  takeExport(name: string, json: string): ExceededLimit | undefined {
    const { maxExportBytes: value } = this.#limits;
    const used = Buffer.byteLength(json);
    if (used > value) return { name: 'maxExportBytes', value, used };
    return this.takeNamedValue(name.length + used);
  }

  /** A value for `$.service.db`. */
  takeStored(key: string, json: string): ExceededLimit | undefined {
    const [keyBytes, bytes] = [Buffer.byteLength(key), Buffer.byteLength(json)];
    const { maxDbKeyBytes } = LIMITS;
    if (keyBytes > maxDbKeyBytes) return { name: 'maxDbKeyBytes', value: maxDbKeyBytes, used: keyBytes };
    const { maxDbValueBytes } = this.#limits;
    if (bytes > maxDbValueBytes) return { name: 'maxDbValueBytes', value: maxDbValueBytes, used: bytes };
    return this.takeNamedValue(keyBytes + bytes);
  }

  takeResult(bytes: number): ExceededLimit | undefined {
    const { maxResultBytes: value } = this.#limits;
    if (bytes > value) return { name: 'maxResultBytes', value, used: bytes };
    return this.takeBytes(bytes);
  }

  takeBytes(bytes: number): ExceededLimit | undefined {
    this.#bytes += bytes;
    const { maxRunOutputBytes } = this.#limits;
    if (this.#bytes <= maxRunOutputBytes) return undefined;
    return { name: 'maxRunOutputBytes', value: maxRunOutputBytes, used: this.#bytes };
  }
}

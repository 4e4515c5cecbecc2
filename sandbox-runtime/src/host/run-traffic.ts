import type { AccountLimitName, AccountLimits, ExceededLimit } from '@headwater/shared';

/**
 * Counts the requests of one run, and what they send and receive. The guest knows most of these counts itself, but gives up
 * a request before the host has closed it: going over most limits here is no breach, the request is refused.
 */
export class RunTraffic {
  readonly #limits: AccountLimits;
  #requests = 0;
  #sentBytes = 0;
  #receivedBytes = 0;

  constructor(limits: AccountLimits) {
    this.#limits = limits;
  }

  /** A request is about to be made while so many are open. Answers the limit that forbids it. */
  open(bodyBytes: number, openRequests: number): ExceededLimit | undefined {
    this.#requests += 1;
    this.#sentBytes += bodyBytes;
    return (
      this.#over('maxFetchesInFlightPerRun', openRequests + 1) ??
      this.#over('maxFetchesPerRun', this.#requests) ??
      this.#over('maxUploadBytesPerRun', this.#sentBytes) ??
      this.#over('maxDownloadBytesPerRun', this.#receivedBytes)
    );
  }

  /** More requests were asked for than the guest lets out. */
  get isBeyondCount(): boolean {
    return this.#requests > this.#limits.maxFetchesPerRun;
  }

  /** An answer came, with so many decoded bytes. Answers the limit that keeps it from the run. */
  receive(bytes: number): ExceededLimit | undefined {
    this.#receivedBytes += bytes;
    return this.#over('maxDownloadBytesPerRun', this.#receivedBytes);
  }

  #over(name: AccountLimitName, used: number): ExceededLimit | undefined {
    const value = this.#limits[name];
    return used > value ? { name, value, used } : undefined;
  }
}

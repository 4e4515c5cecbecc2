import type { AccountLimitName, AccountLimits, ExceededLimit } from '@headwater/shared';
import type { FetchMeter } from '../sandbox-types.ts';

/**
 * Counts the requests of one run, and what they send and receive. The guest knows most of these
 * counts itself, but gives up a request before the host has closed it, and hears of no redirect:
 * going over most limits here is no breach, the request is refused.
 */
export class RunTraffic implements FetchMeter {
  readonly #limits: AccountLimits;
  #asked = 0;
  #redirects = 0;
  #sentBytes = 0;
  #receivedBytes = 0;

  constructor(limits: AccountLimits) {
    this.#limits = limits;
  }

  /** Counts a new request, with `openRequests` already open. Returns the limit that forbids it. */
  open(bodyBytes: number, openRequests: number): ExceededLimit | undefined {
    this.#asked += 1;
    this.#sentBytes += bodyBytes;
    return this.#over('maxFetchesInFlightPerRun', openRequests + 1) ?? this.#overSum();
  }

  redirected(bodyBytes: number): ExceededLimit | undefined {
    this.#redirects += 1;
    this.#sentBytes += bodyBytes;
    return this.#overSum();
  }

  received(bytes: number): ExceededLimit | undefined {
    this.#receivedBytes += bytes;
    return this.#over('maxDownloadBytesPerRun', this.#receivedBytes);
  }

  #overSum(): ExceededLimit | undefined {
    return (
      this.#over('maxFetchesPerRun', this.#asked + this.#redirects) ??
      this.#over('maxUploadBytesPerRun', this.#sentBytes) ??
      this.#over('maxDownloadBytesPerRun', this.#receivedBytes)
    );
  }

  #over(name: AccountLimitName, used: number): ExceededLimit | undefined {
    const value = this.#limits[name];
    return used > value ? { name, value, used } : undefined;
  }
}

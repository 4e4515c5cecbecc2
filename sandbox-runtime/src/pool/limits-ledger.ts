import type { AccountLimits } from '@headwater/shared';
import { pickGuestLimits } from '../bridge/guest-limits.ts';

/** Which limits a process was told last: they are sent when they change, not with every run. */
export class LimitsLedger {
  #account: AccountLimits | undefined;
  #text = '';

  /**
   * The limits as they are to be sent, or undefined where the process knows them. The object is not
   * to be changed later.
   */
  take(account: AccountLimits): string | undefined {
    if (account === this.#account) return undefined;
    this.#account = account;
    const text = JSON.stringify(pickGuestLimits(account));
    if (text === this.#text) return undefined;
    this.#text = text;
    return text;
  }
}

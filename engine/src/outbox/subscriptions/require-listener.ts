import { HeadwaterError } from '@headwater/shared';
import type { Principal } from '../../contract/index.ts';

/** Whether the caller's key sees only webhooks among the listeners. */
export function isForWebhooks({ scopes }: Principal): boolean {
  return scopes !== undefined && !scopes.includes('read');
}

/** Throws FORBIDDEN where a key for webhooks names a listener that is none: it would run code. */
export function requireListener({ scopes }: Principal, listenerId: string): void {
  if (scopes === undefined || listenerId.startsWith('wh_')) return;
  throw new HeadwaterError(
    'FORBIDDEN',
    `The scope of this API key is ${scopes.join(', ')}; ${listenerId} is no webhook, and needs full`,
  );
}

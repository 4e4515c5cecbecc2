import { type Fault, LIMITS, platformLimit } from '@headwater/shared';
import { findCountFault, type SignatureScheme } from '../../contract/index.ts';
import { readSecret, schemeOf } from '../transports/webhook/sign.ts';

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/i;
/** Printable ASCII, spaces and tabs between. */
const VALUE = /^[\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?$/;

/** This server sets the headers of the connection and those that identify the sender. */
const RESERVED = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
const RESERVED_PREFIXES = ['webhook-', 'headwater-'];
/** Made of the event, as it is where the format asks for them. */
const CONTENT_PREFIX = 'ce-';

/** The fault of a signing secret that its owner gives. */
export function findSecretFault(secret: string | undefined, scheme?: SignatureScheme): Fault | undefined {
  if (secret === undefined) return undefined;
  if (scheme !== undefined && scheme !== schemeOf(secret)) return { message: `is not one for the signature ${scheme}` };
  try {
    readSecret(secret);
    return undefined;
  } catch {
    return { message: 'must be whsec_ and base64 of 24 to 64 bytes, or whsk_ and base64 of an Ed25519 key' };
  }
}

interface HeaderRules {
  /** A transform may change those of the event, which are made before it runs. */
  mayDescribe?: boolean;
}

/** Faults of the headers that the requests are to carry, by name. */
export function headerFaults(
  headers: Record<string, string>,
  { mayDescribe = false }: HeaderRules = {},
): [name: string, fault: Fault][] {
  const entries = Object.entries(headers);
  const count = platformLimit('maxWebhookHeaders', entries.length);
  if (count.used > count.value) return [['', { message: `must be at most ${count.value} headers`, limit: count }]];
  const bytes = entries.reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(value), 0);
  const size = platformLimit('maxWebhookHeaderBytes', bytes);
  if (size.used > size.value) return [['', { message: `must be at most ${size.value} bytes together`, limit: size }]];
  const seen = new Set<string>();
  return entries.flatMap(([name, value]): [string, Fault][] => {
    const key = name.toLowerCase();
    const message = findHeaderMistake(key, value, mayDescribe) ?? (seen.has(key) ? 'is given twice' : undefined);
    seen.add(key);
    return message === undefined ? [] : [[name, { message }]];
  });
}

function findHeaderMistake(name: string, value: string, mayDescribe: boolean): string | undefined {
  if (!TOKEN.test(name)) return 'is not the name of a header';
  const isOfEvent = name.startsWith(CONTENT_PREFIX) && !mayDescribe;
  if (RESERVED.has(name) || isOfEvent || RESERVED_PREFIXES.some((prefix) => name.startsWith(prefix)))
    return 'is a header that Headwater sets itself';
  return VALUE.test(value) ? undefined : 'must have a value of printable ASCII characters, without spaces around it';
}

/** The fault of the waits between attempts. */
export function findScheduleFault(seconds: readonly number[] | null | undefined): Fault | undefined {
  if (seconds === null || seconds === undefined) return undefined;
  const count = platformLimit('maxWebhookRetries', seconds.length);
  if (count.used > count.value) return { message: `must have at most ${count.value} waits`, limit: count };
  for (const wait of seconds) {
    const fault = findCountFault(wait, 0, platformLimit('maxWebhookRetryWaitSeconds', wait));
    if (fault !== undefined) return { ...fault, message: `${fault.message} in each place` };
  }
  return undefined;
}

export function findTimeoutFault(seconds: number | null | undefined): Fault | undefined {
  return findCountFault(
    seconds,
    1,
    platformLimit('maxWebhookTimeoutSeconds', seconds ?? LIMITS.maxWebhookTimeoutSeconds),
  );
}

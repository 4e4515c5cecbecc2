import { HeadwaterError, LIMITS, platformLimit } from '@headwater/shared';

/**
 * The JSON text of an event that a run is given by hand. Throws PAYLOAD_TOO_LARGE for more than a
 * request could bring.
 */
export function runEventText(event: unknown): string {
  const text = JSON.stringify(event);
  const bytes = Buffer.byteLength(text);
  if (bytes <= LIMITS.maxHttpBodyBytes) return text;
  const limit = platformLimit('maxHttpBodyBytes', bytes);
  throw new HeadwaterError('PAYLOAD_TOO_LARGE', `event has more than ${limit.value} bytes as JSON`, { limit });
}

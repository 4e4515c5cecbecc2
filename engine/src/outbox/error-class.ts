import type { DeliveryErrorClass } from '../contract/index.ts';
import { isEgressRefused } from '../egress/index.ts';

/** For an answer that is no success. */
export function classOfStatus(statusCode: number): DeliveryErrorClass {
  if (statusCode >= 300 && statusCode <= 399) return 'http_3xx';
  return statusCode >= 400 && statusCode <= 499 ? 'http_4xx' : 'http_5xx';
}

/** For an attempt without an answer. */
export function classOfFailure(error: unknown, timedOut: boolean): DeliveryErrorClass {
  if (timedOut) return 'timeout';
  return isEgressRefused(error) ? 'refused' : 'connection';
}

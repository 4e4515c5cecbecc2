import { isUtf8 } from 'node:buffer';
import { type HttpResponse, LIMITS } from '@headwater/shared';
import type { TestedResponse } from '../../contract/workflow-tests.ts';

/**
 * The shown part of a response in a test. An execution stores no responses, so maxRunOutputBytes
 * does not cover them. A hundred steps with megabytes each would stay in memory until the test
 * ends.
 */
export function testedResponse({ status, headers, body }: HttpResponse, immediate: boolean): TestedResponse {
  const isText = isUtf8(body);
  let end = Math.min(body.length, LIMITS.shownStepBytes);
  if (isText) while (isWithinCharacter(body[end])) end -= 1;
  // A copy: a view would keep all of it in memory.
  const beginning = new Uint8Array(body.subarray(0, end));
  return { status, headers, body: beginning, isText, isCut: end < body.length, immediate };
}

/** In UTF-8, of a byte: it is not the first of its character. */
function isWithinCharacter(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

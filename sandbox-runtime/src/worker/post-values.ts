import { LIMITS } from '@headwater/shared';
import { FrameError } from '../bridge/frames.ts';

/*
 * What came with a post of a guest, of the type that it must have. Each throws FrameError for
 * anything else.
 */

type Content = string | Uint8Array;

export function textOf(value: unknown): string {
  if (typeof value !== 'string') throw new FrameError('A post without a text');
  return value;
}

/** Of JSON text, which has no NUL. */
export function jsonOf(value: unknown): string {
  const text = textOf(value);
  if (text.includes('\0')) throw new FrameError('JSON with a NUL character');
  return text;
}

/** Of a body. */
export function postContentOf(value: unknown): Content {
  return value instanceof Uint8Array ? value : textOf(value);
}

export function optionalOf<Value>(value: unknown, read: (value: unknown) => Value): Value | undefined {
  return value === undefined ? undefined : read(value);
}

export function numberOf(value: unknown): number {
  if (typeof value !== 'number') throw new FrameError('A post without a number');
  return value;
}

/** The number of a call. */
export function callOf(value: unknown): number {
  const call = numberOf(value);
  if (!Number.isSafeInteger(call) || call < 0) throw new FrameError('A call number that is none');
  return call;
}

/**
 * In UTF-8; of bytes what came with them too, which is all of the buffer that they are a part of.
 */
export function postBytesOf(content: Content): number {
  return typeof content === 'string' ? Buffer.byteLength(content) : content.buffer.byteLength;
}

/** As a part of a frame. */
export function partBytes(content: Content): number {
  return typeof content === 'string' ? Buffer.byteLength(content) : content.byteLength;
}

/** What a component says of itself, whatever the type of the call says. */
export function isOutline(text: unknown): text is string {
  return typeof text === 'string' && text.length <= LIMITS.maxOutlineChars;
}

import { expect, test } from 'vitest';
import { answerAsk } from '../../sandbox-runtime/src/worker/answer-asks.ts';
import { ASK } from '../../sandbox-runtime/src/bridge/isolate-codes.ts';

test('a part of a buffer is decoded without the rest', () => {
  const { buffer } = new TextEncoder().encode('before|text|after');
  expect(answerAsk([ASK.decodeUtf8, undefined, new Uint8Array(buffer, 7, 4), undefined])).toBe('text');
});

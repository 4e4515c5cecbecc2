import { readStream, type StreamMessage } from '@headwater/client';
import { useEffect, useRef, useState } from 'react';
import { BASE_PATH } from './base-url.ts';
import { noteConnectionLost } from './connection.ts';
import { sessionHeaders } from './session.ts';

export type StreamState = 'connecting' | 'live' | 'reconnecting' | 'refused';

const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 10_000;

export interface StreamOptions {
  /** Below the base path: `/v1/sources/dc_1/sse?expand=event`. Undefined: no stream. */
  path: string | undefined;
  /** Called once a frame at most, with all that came meanwhile. */
  onMessages: (messages: StreamMessage[]) => void;
}

/**
 * Server-sent events that go on where they ended when the connection is lost, without a message
 * lost or repeated. The browser's own EventSource cannot send the header that names the session.
 */
export function useEventStream({ path, onMessages }: StreamOptions): StreamState {
  const [state, setState] = useState<StreamState>('connecting');
  const deliver = useRef(onMessages);
  deliver.current = onMessages;
  useEffect(() => {
    if (path === undefined) return undefined;
    const ended = new AbortController();
    setState('connecting');
    void follow(path, {
      signal: ended.signal,
      onState: setState,
      onMessages: (messages) => deliver.current(messages),
    });
    return () => ended.abort();
  }, [path]);
  return state;
}

interface Follower {
  signal: AbortSignal;
  onState: (state: StreamState) => void;
  onMessages: (messages: StreamMessage[]) => void;
}

async function follow(path: string, { signal, onState, onMessages }: Follower): Promise<void> {
  let lastId: string | undefined;
  let retryMs = FIRST_RETRY_MS;
  const batch = batchPerFrame(onMessages);
  while (!signal.aborted) {
    try {
      const response = await open(path, lastId, signal);
      // Asking again does not help: the key does not reach it, or the thing is gone.
      if (response.status >= 400 && response.status < 500 && response.status !== 429) return onState('refused');
      if (!response.ok || response.body === null) throw new Error(`status ${response.status}`);
      onState('live');
      retryMs = FIRST_RETRY_MS;
      for await (const message of readStream(response.body)) {
        lastId = message.id === '' ? lastId : message.id;
        batch(message);
      }
    } catch (error) {
      // Lost, refused or never made: all the same, it is made again.
      if (error instanceof TypeError && !signal.aborted) noteConnectionLost();
    }
    if (signal.aborted) return undefined;
    onState('reconnecting');
    await sleep(retryMs * (0.5 + Math.random()), signal);
    retryMs = Math.min(retryMs * 2, MAX_RETRY_MS);
  }
  return undefined;
}

function open(path: string, lastId: string | undefined, signal: AbortSignal): Promise<Response> {
  const headers = {
    accept: 'text/event-stream',
    ...sessionHeaders(),
    ...(lastId === undefined ? {} : { 'last-event-id': lastId }),
  };
  return fetch(BASE_PATH.replace(/\/$/, '') + path, { headers, signal });
}

/** A page that is not shown has no frames; it still takes messages, once a second. */
const HIDDEN_MS = 1_000;

function batchPerFrame(deliver: (messages: StreamMessage[]) => void): (message: StreamMessage) => void {
  let waiting: StreamMessage[] = [];
  const flush = () => {
    const messages = waiting;
    waiting = [];
    deliver(messages);
  };
  return (message) => {
    waiting.push(message);
    if (waiting.length > 1) return;
    if (document.hidden) setTimeout(flush, HIDDEN_MS);
    else requestAnimationFrame(flush);
  };
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}

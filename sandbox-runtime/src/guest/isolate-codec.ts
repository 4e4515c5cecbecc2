import { ASK, CALL, POST } from '../bridge/isolate-codes.ts';
import type { EntryName, GuestAsk, GuestCall, GuestPost } from '../bridge/messages.ts';
import type { AskOnce, PostValues } from './bridge.ts';

/*
 * The guest's half of the wall around its isolate; the worker's is worker/isolate-codec.ts. No
 * built-in is used here: a component may have changed it.
 */

export function encodePost(post: GuestPost, send: PostValues): void {
  const { run } = post;
  switch (post.kind) {
    case 'emit':
      return send(POST.emit, run, post.event, post.meta);
    case 'log':
      return send(POST.log, run, post.head, post.message);
    case 'respond':
      return send(POST.respond, run, post.head, post.body);
    case 'db-set':
      return send(POST.dbSet, run, post.key, post.value);
    case 'fetch':
      return send(POST.fetch, run, post.call, post.head, post.body);
    case 'fetch-abort':
      return send(POST.fetchAbort, run, post.call);
    case 'data-store':
      return send(POST.dataStore, run, post.call, post.head, post.value);
    case 'web-crypto':
      return send(POST.webCrypto, run, post.call, post.head, post.bytes);
    case 'timer-set': {
      const { timerKind } = post;
      return send(POST.timerSet, run, post.timer, post.delayMs, timerKind === 'timer' ? undefined : timerKind);
    }
    case 'timer-clear':
      return send(POST.timerClear, run, post.timer);
    case 'timer-ref':
      return send(POST.timerRef, run, post.timer, post.isRef ? 1 : 0);
    case 'step-export':
      return send(POST.stepExport, run, post.name, post.value);
    case 'step-send':
      return send(POST.stepSend, run, post.means, post.payload);
    case 'step-flow':
      return send(POST.stepFlow, run, post.action, post.context);
    case 'step-respond':
      return send(POST.stepRespond, run, post.head, post.body, post.immediate ? 'now' : undefined);
    case 'step-props':
      return send(POST.stepProps, run, post.props, post.cut);
    case 'done':
      return send(POST.done, run, post.result);
    case 'failed':
      return send(POST.failed, run, post.failure);
  }
}

export function encodeAsk(ask: GuestAsk, send: AskOnce): Uint8Array | string | undefined {
  switch (ask.kind) {
    case 'random':
      return send(ASK.random, ask.bytes);
    case 'hash':
      return send(ASK.hash, ask.algorithm, ask.data);
    case 'hmac':
      return send(ASK.hmac, ask.algorithm, ask.key, ask.data);
    case 'decode-utf8':
      return send(ASK.decodeUtf8, undefined, ask.data);
    case 'encode-utf8':
      return send(ASK.encodeUtf8, ask.text);
    case 'decode-text': {
      const { label, fatal, stream, data } = ask;
      return send(ASK.decodeText, `${fatal ? 'f' : '-'}${stream ? 's' : '-'}${label}`, data);
    }
    case 'encoding-name':
      return send(ASK.encodingName, ask.label);
    case 'compress':
      return send(ASK.compress, ask.order, ask.data);
    case 'url':
      return send(ASK.url, ask.order);
    case 'zlib':
      return send(ASK.zlib, ask.head, ask.data);
    case 'node-crypto':
      return send(ASK.nodeCrypto, ask.head, ask.data, ask.second);
    case 'source-map':
      return send(ASK.sourceMap);
  }
}

/** Undefined for a call of a kind that this guest does not know. */
export function decodeCall(code: number, a: unknown, b: unknown, c: unknown, d: unknown): GuestCall | undefined {
  switch (code) {
    case CALL.loading:
      return { kind: 'loading', limits: a as string };
    case CALL.load:
      return { kind: 'load', namespace: a };
    case CALL.start:
      return { kind: 'start', entry: a as EntryName, dedupe: b as string, props: c as string, event: d as string };
    case CALL.timer:
      return { kind: 'timer', timer: a as number };
    case CALL.fetched:
      return { kind: 'fetched', call: a as number, head: b as string, body: c as Uint8Array };
    case CALL.answered:
      return { kind: 'answered', call: a as number, head: b as string, body: c as Uint8Array };
    case CALL.outline:
      return { kind: 'outline' };
    case CALL.end:
      return { kind: 'end' };
    case CALL.limits:
      return { kind: 'limits', limits: a as string };
    default:
      return undefined;
  }
}

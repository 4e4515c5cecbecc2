import { expect, test } from 'vitest';
import { sameAsNode } from '../support/same-as-node.ts';

const runBoth = sameAsNode();

test('streams are read, written, piped and teed as in Node', async () => {
  const { guest, node } = await runBoth({
    read: async () => {
      const stream = new ReadableStream({
        start(controller) {
          controller.enqueue('a');
          controller.enqueue('b');
          controller.close();
        },
      });
      const reader = stream.getReader();
      return [await reader.read(), await reader.read(), await reader.read(), stream.locked];
    },
    iterate: async () => {
      const seen: unknown[] = [];
      for await (const chunk of ReadableStream.from([1, 2, 3])) seen.push(chunk);
      return seen;
    },
    pressure: async () => {
      const log: string[] = [];
      const slow = new WritableStream(
        { write: async (chunk) => void log.push(`write ${chunk}`), close: () => void log.push('close') },
        new CountQueuingStrategy({ highWaterMark: 1 }),
      );
      const double = new TransformStream({ transform: (chunk, controller) => controller.enqueue(chunk * 2) });
      await ReadableStream.from([1, 2]).pipeThrough(double).pipeTo(slow);
      return log;
    },
    tee: async () => {
      const [first, second] = ReadableStream.from(['x', 'y']).tee();
      const seen: unknown[] = [];
      for (const branch of [first, second]) for await (const chunk of branch) seen.push(chunk);
      return seen;
    },
    bytes: async () => {
      const stream = new Blob(['hello']).stream();
      const reader = stream.getReader({ mode: 'byob' });
      const { value, done } = await reader.read(new Uint8Array(3));
      return [[...(value ?? [])], done];
    },
    error: async () => {
      const stream = new ReadableStream({ start: (controller) => controller.error(new RangeError('no')) });
      return await stream.getReader().read();
    },
    abort: async () => {
      const controller = new AbortController();
      const endless = new ReadableStream({ pull: (given) => given.enqueue('x') });
      const sink = new WritableStream({ write: () => controller.abort() });
      await endless.pipeTo(sink, { signal: controller.signal });
    },
  });
  expect(guest).toEqual(node);
});

test('events and abort signals are as in Node', async () => {
  const { guest, node } = await runBoth({
    order: () => {
      const log: string[] = [];
      const target = new EventTarget();
      const both = { handleEvent: () => log.push('object') };
      target.addEventListener('x', () => log.push('plain'));
      target.addEventListener('x', () => log.push('once'), { once: true });
      target.addEventListener('x', both);
      target.addEventListener('x', both);
      const event = new CustomEvent('x', { detail: 5, cancelable: true });
      target.addEventListener('x', (given) => given.preventDefault());
      const results = [target.dispatchEvent(event), target.dispatchEvent(new Event('x')), event.detail];
      return [log, results, event.defaultPrevented];
    },
    signal: () => {
      const log: unknown[] = [];
      const controller = new AbortController();
      const target = new EventTarget();
      target.addEventListener('x', () => log.push('x'), { signal: controller.signal });
      Object.assign(controller.signal, { onabort: (event: Event) => log.push(event.type, controller.signal.aborted) });
      target.dispatchEvent(new Event('x'));
      controller.abort('why');
      controller.abort('again');
      target.dispatchEvent(new Event('x'));
      return [log, controller.signal.reason];
    },
    any: () => {
      const [first, second] = [new AbortController(), new AbortController()];
      const combined = AbortSignal.any([first.signal, AbortSignal.any([second.signal])]);
      second.abort();
      return [combined.aborted, (combined.reason as Error).name, AbortSignal.abort(1).reason];
    },
    timeout: async () => {
      const signal = AbortSignal.timeout(5);
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return [(signal.reason as Error).name, signal.reason instanceof DOMException];
    },
    throws: () => AbortSignal.abort().throwIfAborted(),
    clone: () => {
      const cycle: Record<string, unknown> = {
        when: new Date(5),
        map: new Map([[1, new Set([/x/g])]]),
        error: new RangeError('r'),
      };
      cycle['self'] = cycle;
      const copy = structuredClone(cycle) as typeof cycle & { map: Map<number, Set<RegExp>>; when: Date };
      const [pattern] = copy.map.get(1) as Set<RegExp>;
      return [copy['self'] === copy, copy.when.getTime(), String(pattern), (copy['error'] as Error).name];
    },
    transfer: () => {
      const buffer = new ArrayBuffer(4);
      const copy = structuredClone(buffer, { transfer: [buffer] });
      return [copy.byteLength, buffer.byteLength];
    },
    channel: async () => {
      const { port1, port2 } = new MessageChannel();
      port1.postMessage({ early: new Map([[1, 2]]) });
      const got: unknown[] = [];
      await new Promise<void>((resolve) => {
        Object.assign(port2, {
          onmessage: ({ data }: MessageEvent) => {
            got.push(data instanceof Object && 'early' in data ? [...(data.early as Map<number, number>)] : data);
            if (got.length === 2) resolve();
          },
        });
        port1.postMessage('late');
      });
      port1.close();
      return got;
    },
    notCloned: () => structuredClone(() => 1),
    microtask: () => queueMicrotask(1 as unknown as () => void),
  });
  expect(guest).toEqual(node);
});

import { expect, test } from 'vitest';
import { sameAsNode } from '../support/same-as-node.ts';

const runBoth = sameAsNode();

test('text is encoded and decoded as in Node', async () => {
  const { guest, node } = await runBoth({
    encode: () => [...new TextEncoder().encode('aé€😀\ud800')],
    encodeInto: () => {
      const target = new Uint8Array(6);
      return [new TextEncoder().encodeInto('a€😀', target), [...target]];
    },
    long: () => new TextDecoder().decode(new TextEncoder().encode('ß😀'.repeat(9000))).length,
    broken: () => new TextDecoder().decode(new Uint8Array([0x61, 0xff, 0xe2, 0x82, 0x62, 0xf0, 0x9f])),
    fatal: () => new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([0xc3])),
    fatalUtf16: () => new TextDecoder('utf-16le', { fatal: true }).decode(new Uint8Array([0, 0xd8])),
    bom: () =>
      [false, true].map((ignoreBOM) =>
        new TextDecoder('utf-8', { ignoreBOM }).decode(new Uint8Array([0xef, 0xbb, 0xbf, 0x61])).charCodeAt(0),
      ),
    labels: () => ['UTF8', ' latin1 ', 'shift_jis', 'gbk', 'utf-16'].map((label) => new TextDecoder(label).encoding),
    unknown: () => new TextDecoder('klingon'),
    legacy: () => [
      new TextDecoder('shift_jis').decode(new Uint8Array([0x93, 0xfa, 0x96, 0x7b])),
      new TextDecoder('windows-1251').decode(new Uint8Array([0xef, 0xf0, 0xe8])),
      new TextDecoder('utf-16be').decode(new Uint8Array([0, 0x61, 0xd8, 0x3d, 0xde, 0])),
    ],
    streamed: () =>
      [
        ['utf-8', [0xef, 0xbb, 0xbf, 0xf0, 0x9f, 0x98, 0x80, 0xe2, 0x61, 0xed, 0xa0]],
        ['utf-16le', [0xff, 0xfe, 0x3d, 0xd8, 0, 0xde, 0x61]],
        ['shift_jis', [0x93, 0xfa, 0x96, 0x7b]],
      ].map(([label, bytes]) => {
        const decoder = new TextDecoder(label as string);
        const parts = (bytes as number[]).map((byte) => decoder.decode(new Uint8Array([byte]), { stream: true }));
        return [...parts, decoder.decode()];
      }),
    base64: () => [btoa('h\u00ff'), atob('aP8='), atob(' a P 8 ')],
    notLatin: () => btoa('€'),
    notBase64: () => atob('a'),
  });
  expect(guest).toEqual(node);
});

test('text and bytes are turned into each other and compressed in streams', async () => {
  const { guest, node } = await runBoth({
    encoded: async () => {
      const seen: number[][] = [];
      const stream = ReadableStream.from(['a', '\ud83d', '\ude00', '\ud83d']).pipeThrough(new TextEncoderStream());
      for await (const chunk of stream) seen.push([...(chunk as Uint8Array)]);
      return seen;
    },
    decoded: async () => {
      const seen: unknown[] = [];
      const chunks = [[0xe2], [0x82, 0xac], [0xff]].map((bytes) => new Uint8Array(bytes));
      for await (const text of ReadableStream.from(chunks).pipeThrough(new TextDecoderStream())) seen.push(text);
      return seen;
    },
    compressed: async () => {
      const texts: string[] = [];
      for (const format of ['gzip', 'deflate', 'deflate-raw'] as const) {
        const body = new Response('x'.repeat(5000)).body as ReadableStream<Uint8Array<ArrayBuffer>>;
        const packed = body.pipeThrough(new CompressionStream(format));
        texts.push(await new Response(packed.pipeThrough(new DecompressionStream(format))).text());
      }
      return texts;
    },
    corrupt: async () => {
      const stream = new Blob(['no gzip']).stream().pipeThrough(new DecompressionStream('gzip'));
      return await new Response(stream).text();
    },
    format: () => new CompressionStream('lzma' as 'gzip'),
  });
  expect(guest).toEqual(node);
});

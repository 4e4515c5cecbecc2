import { FrameWriter } from '../../sandbox-runtime/src/bridge/frames.ts';
import { sendToHost } from '../../sandbox-runtime/src/bridge/frames-to-host.ts';
import type { ToHost } from '../../sandbox-runtime/src/bridge/messages.ts';
import { fc } from './properties.ts';

/*
 * Frames that a compromised sandbox process may write to its node: real messages of every kind,
 * which are then changed.
 */

/** One message, changed in one way and sent `times` times. */
interface Word {
  message: number;
  run: number;
  change: (typeof CHANGES)[number];
  at: number;
  value: number;
  times: number;
}

const CHANGES = [
  'none',
  'a value',
  'a value less',
  'a value more',
  'a key twice',
  'a text',
  'a part less',
  'a part more',
  'the length',
  'the length of a part',
  'the number of parts',
  'the kind',
  'the end',
  'noise',
] as const;

/** As JSON; one that stands for text is taken as it is. */
const VALUES = [
  'null',
  'true',
  '-1',
  '0',
  '1.5',
  '2147483648',
  '9007199254740993',
  '1e308',
  '-1e308',
  '1e999',
  '[]',
  '{}',
  '""',
  '"0"',
  '"NaN"',
  '"-1"',
  '"__proto__"',
  '"constructor"',
  '"\\u0000"',
  '"a\\r\\nb"',
  '"\\ud800"',
  '[null]',
  '{"length":-1}',
  '{"toString":1}',
  '{"__proto__":{"a":1}}',
  `${'['.repeat(5_000)}${']'.repeat(5_000)}`,
  `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`,
  `"${'x'.repeat(300)}"`,
  `"${'x'.repeat(70_000)}"`,
];
const LENGTHS = [0, 1, 5, 6, 2 ** 24, 2 ** 24 + 1, 2 ** 31, 2 ** 32 - 1];

/** The runs that a process was given are 1 to 5. */
const RUNS = [0, 1, 2, 3, 4, 5, 6, 2 ** 32 - 1];

const word: fc.Arbitrary<Word> = fc.record({
  message: fc.nat(63),
  run: fc.constantFrom(...RUNS, 1, 1, 2, 2),
  // Half of them are unchanged: where every word is broken, no second one is read.
  change: fc.oneof(fc.constant<Word['change']>('none'), fc.constantFrom(...CHANGES)),
  at: fc.nat(15),
  value: fc.nat(VALUES.length - 1),
  times: fc.constantFrom(1, 1, 1, 2, 40, 2_000),
});

/** Bytes in the pieces in which they come. */
export const forgedWrites: fc.Arbitrary<Buffer[]> = fc
  .record({
    words: fc.array(word, { minLength: 1, maxLength: 10 }),
    pieceBytes: fc.constantFrom(1, 3, 7, 4_096, 65_536),
  })
  .map(({ words, pieceBytes }) => cut(Buffer.concat(words.map(bytesOf)), pieceBytes));

/** Long ones come in larger pieces: a read for each byte of a megabyte shows nothing more. */
function cut(bytes: Buffer, pieceBytes: number): Buffer[] {
  const size = Math.max(pieceBytes, Math.ceil(bytes.length / 20_000));
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size));
}

function bytesOf(given: Word): Buffer {
  const all = messages();
  const { kind, parts } = all[given.message % all.length] ?? { kind: 0, parts: [] };
  const bytes = changeBytes(
    given,
    frame(given.change === 'the kind' ? given.at : kind, given.run, changeParts(given, parts)),
  );
  return Buffer.concat(Array.from({ length: Math.min(given.times, Math.ceil(400_000 / bytes.length)) }, () => bytes));
}

interface Message {
  kind: number;
  parts: string[];
}

/** One of each kind, as the real process writes them. */
function messages(): Message[] {
  const written: Message[] = [];
  const say = { send: (kind: number, _run: number, parts: string[] = []) => void written.push({ kind, parts }) };
  const fault = {
    code: 'CPU_LIMIT',
    message: 'm',
    stack: 's',
    limit: { name: 'runCpuMs', value: 1, used: 2 },
  } as const;
  const request = { url: 'http://127.0.0.1:1/', method: 'GET', redirect: 'follow', headers: [['a', 'b']] };
  const answer = JSON.stringify({ status: 200, headers: [['a', 'b']] });
  const limit = { name: 'maxLogLineBytes', value: 16_384, used: 16_385 } as const;
  const form = '{"options":[{"label":"a","value":1}],"props":{"a":{"type":"string"}}}';
  const outline = '{"exported":"object","name":"n","version":"1","run":"function","props":{"a":{"type":"string"}}}';
  const meta = '{"id":1,"name":"n","summary":"s","ts":5,"emittedAtMs":5}';
  const stored = '{"storeId":"ds_a","op":"set","key":"k","ttlSeconds":5}';
  const said: ToHost[] = [
    { kind: 'emit', run: 1, event: '{"a":1}', meta },
    { kind: 'log', run: 1, line: { level: 'info', atMs: 5, message: 'said' } },
    { kind: 'log', run: 1, line: { level: 'warn', atMs: 5, message: 'cut', limit } },
    { kind: 'respond', run: 1, head: answer, body: 'body' },
    { kind: 'db-set', run: 1, key: 'key', value: '{"a":1}' },
    { kind: 'db-get', run: 1, call: 1, key: 'key' },
    { kind: 'fetch', run: 1, call: 1, head: JSON.stringify(request), body: undefined },
    { kind: 'fetch', run: 1, call: 2, head: JSON.stringify(request), body: 'body' },
    { kind: 'fetch-abort', run: 1, call: 1 },
    { kind: 'data-store', run: 1, call: 1, head: stored, value: '1' },
    { kind: 'data-store', run: 1, call: 2, head: '{"storeId":"ds_a","op":"keys","cursor":"c"}', value: undefined },
    { kind: 'step-export', run: 1, name: 'name', value: '{"a":1}' },
    { kind: 'step-send', run: 1, means: 'http', payload: '{"url":"http://127.0.0.1:1/"}' },
    { kind: 'step-flow', run: 1, action: '{"kind":"exit","reason":"r"}', context: undefined },
    { kind: 'step-flow', run: 1, action: '{"kind":"rerun","ms":5,"maxRetries":2}', context: '{"a":1}' },
    { kind: 'step-respond', run: 1, head: answer, body: 'body', immediate: true },
    { kind: 'step-props', run: 1, props: '{"a":1}', cut: '[]' },
    { kind: 'outcome', run: 1, outcome: { ok: true, cpuMs: 1, wallMs: 2 } },
    { kind: 'outcome', run: 1, outcome: { ok: true, cpuMs: 1, wallMs: 2, result: form } },
    { kind: 'outcome', run: 1, outcome: { ok: false, fault, innocent: true, cpuMs: 1, wallMs: 2 } },
    { kind: 'described', run: 1, outline },
    { kind: 'ready', snapshot: undefined },
    { kind: 'pong' },
    { kind: 'condemned' },
  ];
  for (const message of said) sendToHost(say as unknown as FrameWriter, message);
  return written;
}

function changeParts({ change, at, value }: Word, parts: readonly string[]): string[] {
  const text = VALUES[value] ?? '';
  const index = parts.length === 0 ? 0 : at % parts.length;
  switch (change) {
    case 'a part less':
      return parts.slice(0, -1);
    case 'a part more':
      return [...parts, text];
    case 'a text':
      return parts.length === 0 ? [text] : parts.with(index, text);
    case 'a value':
    case 'a value less':
    case 'a value more':
    case 'a key twice': {
      const head = parts.findIndex((part) => /^[{[]/.test(part));
      return head === -1 ? [...parts] : parts.with(head, changeJson(parts[head] ?? '', { change, at, text }));
    }
    default:
      return [...parts];
  }
}

function changeJson(json: string, { change, at, text }: { change: Word['change']; at: number; text: string }): string {
  const value = JSON.parse(json) as Record<string, unknown>;
  const isList = Array.isArray(value);
  const members = Object.entries(value).map(([name, member]) => [name, JSON.stringify(member)] as [string, string]);
  const index = at % Math.max(1, members.length);
  const name = members[index]?.[0] ?? 'a';
  if (change === 'a value') members[index] = [name, text];
  else if (change === 'a value less') members.splice(index, 1);
  else members.push([change === 'a key twice' ? name : 'other', text]);
  return isList
    ? `[${members.map(([, member]) => member).join()}]`
    : `{${members.map(([key, member]) => `${JSON.stringify(key)}:${member}`).join()}}`;
}

function frame(kind: number, run: number, parts: readonly string[]): Buffer {
  const chunks: Buffer[] = [];
  const writer = new FrameWriter((bytes) => void chunks.push(Buffer.from(bytes)));
  writer.send(kind, run, parts);
  writer.flush();
  return Buffer.concat(chunks);
}

function changeBytes({ change: how, at, value }: Word, bytes: Buffer): Buffer {
  const length = LENGTHS[value % LENGTHS.length] ?? 0;
  switch (how) {
    case 'the length':
      bytes.writeUInt32LE(length, 0);
      return bytes;
    case 'the number of parts':
      bytes.writeUInt8(at * 17, 5);
      return bytes;
    case 'the length of a part':
      if (bytes.length >= 14) bytes.writeUInt32LE(length, 10);
      return bytes;
    case 'the end':
      return bytes.subarray(0, Math.max(1, bytes.length - 1 - at));
    case 'noise':
      return Buffer.from(Array.from({ length: 40 + at }, (_, i) => (i * 151 + value * 77) % 256));
    default:
      return bytes;
  }
}

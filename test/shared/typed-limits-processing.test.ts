import { expect, test } from 'vitest';
import { LIMITS, platformLimit, type PlatformLimitName } from '../../shared/src/index.ts';
import { sandboxForFile, withRun } from '../support/sandbox-kit.ts';

const sandbox = sandboxForFile();
const emittedBy = ({ events }: { events: readonly { data: string }[] }) =>
  events.map(({ data }) => JSON.parse(data) as unknown);
const MODULES = `const [crypto, zlib] = ['crypto', 'zlib'].map((name) => process.getBuiltinModule(name));
const of = (name) => new Uint8Array(name);`;
const stream = (cipher: string, bytes: number) =>
  `crypto.createCipheriv('${cipher}', of(16), of(16)).update(of(${bytes}))`;
/** Made of pieces, as an isolate holds too little for the whole of it. */
const bomb = `zlib.gzipSync(of(24 * 2 ** 20))`;
const large = `of(${LIMITS.maxProcessedBytes + 1})`;

const CALLS: [title: string, name: PlatformLimitName, call: string][] = [
  ['a CFB1 stream', 'maxCfb1StreamBytes', stream('aes-128-cfb1', LIMITS.maxCfb1StreamBytes + 1)],
  ['a CFB8 stream', 'maxCfb8StreamBytes', stream('aes-128-cfb8', LIMITS.maxCfb8StreamBytes + 1)],
  ['a hash', 'maxProcessedBytes', `crypto.createHash('sha256').update(${large}).digest()`],
  ['zlib', 'maxProcessedBytes', `zlib.gzipSync(${large})`],
  ['text of a Buffer', 'maxProcessedBytes', `Buffer.from(${large}.buffer).toString()`],
  ['a TextDecoder', 'maxProcessedBytes', `new TextDecoder('utf-16le').decode(${large})`],
  ['decompression', 'maxInflatedBytes', `zlib.gunzipSync(Buffer.concat([1, 2, 3].map(() => ${bomb})))`],
];

/** Beside other work the same bytes take more processor time, too. */
const AMPLE = { memoryMb: 256, cpuMs: 30_000, wallMs: 120_000 };

test.each(CALLS)('%s over %s throws an error with the limit', async (_, name, call) => {
  const { host, outcome } = await sandbox.run(
    withRun(
      `try { ${call}; this.$emit('done'); } catch (error) { this.$emit(error.limit ?? String(error)); }`,
      MODULES,
    ),
    AMPLE,
  );
  expect([outcome, emittedBy(host)]).toMatchObject([{ ok: true }, [platformLimit(name, LIMITS[name] + 1)]]);
});

test.each(CALLS)('a run that does not catch that %s is over %s ends with the limit', async (_, name, call) => {
  const { outcome } = await sandbox.run(withRun(call, MODULES), AMPLE);
  const limit = platformLimit(name, LIMITS[name] + 1);
  expect(outcome).toMatchObject({ ok: false, fault: { code: 'RESOURCE_LIMIT', limit } });
});

test('data over a limit of zlib gets the code of Node, and data within it pass', async () => {
  const { host } = await sandbox.run(
    withRun(
      `try { zlib.gzipSync(${large}); } catch (error) { this.$emit([error.code, error instanceof RangeError]); }
       try { zlib.gunzipSync(zlib.gzipSync(of(1000)), { maxOutputLength: 100 }); } catch (error) { this.$emit([error.code, 'limit' in error]); }
       this.$emit(${stream('aes-128-cfb8', LIMITS.maxCfb8StreamBytes)}.length);`,
      MODULES,
    ),
    AMPLE,
  );
  expect(emittedBy(host)).toEqual([
    ['ERR_BUFFER_TOO_LARGE', true],
    ['ERR_BUFFER_TOO_LARGE', false],
    LIMITS.maxCfb8StreamBytes,
  ]);
});

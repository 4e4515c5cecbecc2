/**
 * The names of every function and class that can be reached from the globals and from Node's
 * modules without running any of it, by path: `Buffer.prototype.slice`. Runs here, in a plain Node
 * and in an isolate, so it is sent as text and uses nothing from around it. `get x` is the name of
 * a getter, `path (instance)` that of the class of an object, `path (extends)` that of a class's
 * parent.
 */
export function namesOf(modules: readonly string[]): Record<string, string> {
  const names: Record<string, string> = {};
  const keyText = (key: string | symbol): string => (typeof key === 'symbol' ? `[${key.description ?? ''}]` : key);
  const take = (path: string, value: unknown, depth: number): void => {
    if (typeof value === 'function') {
      names[path] = value.name;
      const parent = Object.getPrototypeOf(value) as { name?: unknown } | null;
      if (typeof parent === 'function' && parent !== Function.prototype) names[`${path} (extends)`] = parent.name;
      visit(path, value, depth + 1);
      const { prototype } = value as { prototype?: unknown };
      if (typeof prototype === 'object' && prototype !== null) visit(`${path}.prototype`, prototype, depth + 1);
    } else if (typeof value === 'object' && value !== null) {
      const { constructor } = value as { constructor?: unknown };
      if (typeof constructor === 'function') names[`${path} (instance)`] = constructor.name;
      visit(path, value, depth + 1);
    }
  };
  const visit = (path: string, target: object, depth: number): void => {
    if (depth > 3) return;
    for (const key of Reflect.ownKeys(target)) {
      if (key === 'prototype' || (key === 'constructor' && path.endsWith('.prototype'))) {
        if (key === 'constructor')
          names[`${path}.constructor`] = String((target as { constructor?: { name?: unknown } }).constructor?.name);
        continue;
      }
      const at = `${path}.${keyText(key)}`;
      const found = Object.getOwnPropertyDescriptor(target, key);
      if (found === undefined) continue;
      if (found.get !== undefined) names[`${at} (getter)`] = found.get.name;
      if (found.set !== undefined) names[`${at} (setter)`] = found.set.name;
      if ('value' in found) take(at, found.value, depth);
    }
  };
  for (const key of Object.getOwnPropertyNames(globalThis)) {
    // The module `process` is looked at below, and `global` is this object.
    if (['global', 'globalThis', 'process'].includes(key)) continue;
    const found = Object.getOwnPropertyDescriptor(globalThis, key);
    if (found?.get !== undefined) names[`${key} (getter)`] = found.get.name;
    take(key, (globalThis as Record<string, unknown>)[key], 0);
  }
  for (const name of modules) take(`node:${name}`, process.getBuiltinModule(name), 0);
  return names;
}

/**
 * Class names of objects, by the code that creates them, and names of parents if these have some.
 * Sent as text, as above.
 */
export async function namesOfInstances(): Promise<Record<string, string>> {
  // oxlint-disable-next-line no-explicit-any -- modules by their names, in both places
  const load = (name: string): any => process.getBuiltinModule(name);
  const crypto = load('crypto');
  const fs = load('fs');
  const thrown = (work: () => unknown): unknown => {
    try {
      return work();
    } catch (error) {
      return error;
    }
  };
  const folder = fs.mkdtempSync('/tmp/names-');
  const { privateKey, publicKey } = crypto.generateKeyPairSync('ed25519');
  const handle = await fs.promises.open(`${folder}/a`, 'w');
  const made: Record<string, unknown> = {
    'Buffer.from': Buffer.from('a'),
    'Buffer.alloc': Buffer.alloc(1),
    'a part of a Buffer': Buffer.from('abc').subarray(1),
    createHash: crypto.createHash('md5'),
    createHmac: crypto.createHmac('md5', 'k'),
    createCipheriv: crypto.createCipheriv('aes-128-gcm', Buffer.alloc(16), Buffer.alloc(12)),
    createDecipheriv: crypto.createDecipheriv('aes-128-gcm', Buffer.alloc(16), Buffer.alloc(12)),
    createSign: crypto.createSign('sha256'),
    createVerify: crypto.createVerify('sha256'),
    createECDH: crypto.createECDH('prime256v1'),
    createSecretKey: crypto.createSecretKey(Buffer.from('k')),
    privateKey,
    publicKey,
    webcrypto: crypto.webcrypto,
    subtle: crypto.webcrypto.subtle,
    setTimeout: setTimeout(() => undefined, 0),
    setImmediate: setImmediate(() => undefined),
    statSync: fs.statSync('/tmp'),
    Dirent: fs.readdirSync(folder, { withFileTypes: true })[0],
    FileHandle: handle,
    createReadStream: fs.createReadStream(`${folder}/a`),
    createWriteStream: fs.createWriteStream(`${folder}/a`),
    EventEmitter: new (load('events'))(),
    Readable: load('stream').Readable.from(['a']),
    Writable: new (load('stream').Writable)(),
    PassThrough: new (load('stream').PassThrough)(),
    Duplex: new (load('stream').Duplex)(),
    StringDecoder: new (load('string_decoder').StringDecoder)(),
    createGzip: load('zlib').createGzip(),
    createBrotliDecompress: load('zlib').createBrotliDecompress(),
    'http.Agent': new (load('http').Agent)(),
    'https.Agent': new (load('https').Agent)(),
    'https.globalAgent': load('https').globalAgent,
    AsyncLocalStorage: new (load('async_hooks').AsyncLocalStorage)(),
    URL: new URL('http://a/'),
    'url.parse': load('url').parse('http://a/'),
    URLSearchParams: new URLSearchParams('a=1'),
    'an iterator of URLSearchParams': new URLSearchParams('a=1').entries(),
    Headers: new Headers(),
    Request: new Request('http://a/'),
    Response: new Response('a'),
    'a body': new Response('a').body,
    FormData: new FormData(),
    Blob: new Blob(['a']),
    File: new File(['a'], 'b'),
    AbortController: new AbortController(),
    AbortSignal: AbortSignal.abort(),
    'a reason to abort': AbortSignal.abort().reason,
    Event: new Event('a'),
    EventTarget: new EventTarget(),
    TextEncoder: new TextEncoder(),
    TextDecoder: new TextDecoder(),
    ReadableStream: new ReadableStream(),
    TransformStream: new TransformStream(),
    CompressionStream: new CompressionStream('gzip'),
    performance,
    console,
    process,
    'an AssertionError': thrown(() => load('assert').strictEqual(1, 2)),
    'an error of assert': thrown(() => load('assert').equal(1, 2)),
    'an error of an argument': thrown(() => load('path').join(1)),
    'an error of a range': thrown(() => Buffer.alloc(1).readInt32LE(0)),
    'an error of fs': thrown(() => fs.readFileSync('/tmp/none/at/all')),
    'an error of atob': thrown(() => atob('*')),
    'an error of structuredClone': thrown(() => structuredClone(() => 1)),
    'an error of URL': thrown(() => new URL('a')),
  };
  await handle.close();
  fs.rmSync(folder, { recursive: true });
  const tagOf = (value: unknown): string => Object.prototype.toString.call(value);
  const nameOf = (value: unknown): string =>
    `${String((value as { constructor?: { name?: unknown } } | undefined)?.constructor?.name)} ${tagOf(value)}`;
  return Object.fromEntries(Object.entries(made).map(([how, value]) => [how, nameOf(value)]));
}

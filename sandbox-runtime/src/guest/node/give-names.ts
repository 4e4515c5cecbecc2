const { defineProperty, getOwnPropertyDescriptor } = Object;
const { ownKeys } = Reflect;

/** Functions whose name in Node differs from their key. */
const OTHER_NAMES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'assert.strict': {
    equal: 'strictEqual',
    notEqual: 'notStrictEqual',
    deepEqual: 'deepStrictEqual',
    notDeepEqual: 'notDeepStrictEqual',
  },
  crypto: {
    sign: 'signOneShot',
    verify: 'verifyOneShot',
    getDiffieHellman: 'createDiffieHellmanGroup',
    pseudoRandomBytes: 'randomBytes',
    rng: 'randomBytes',
    prng: 'randomBytes',
  },
  dns: { setServers: 'defaultResolverSetServers' },
  fs: { FileReadStream: 'ReadStream', FileWriteStream: 'WriteStream' },
  net: { createConnection: 'connect', Stream: 'Socket' },
  os: { type: 'getOSType', release: 'getOSRelease', version: 'getOSVersion', machine: 'getMachine' },
  util: { debug: 'debuglog', isArray: 'isArray' },
  'util.types': { isArrayBufferView: 'isView' },
};

/**
 * Gives functions the names that Node gives them: packages look at names, and people read them in
 * stacks. Otherwise they would be called after what makes them here. A function under two keys gets
 * the name of the last: where Node has two functions, make two.
 */
export function giveNames(path: string, target: object, keys: readonly (string | symbol)[] = ownKeys(target)): void {
  const others = OTHER_NAMES[path];
  for (const key of keys) {
    const value: unknown = getOwnPropertyDescriptor(target, key)?.value;
    if (typeof value !== 'function' || key === 'constructor' || key === 'super_') continue;
    giveName(value, typeof key === 'symbol' ? `[${key.description}]` : (others?.[key] ?? key));
  }
}

export function giveName<Target extends object>(target: Target, name: string): Target {
  if ((target as { name?: unknown }).name !== name)
    defineProperty(target, 'name', { __proto__: null, value: name, configurable: true } as PropertyDescriptor);
  return target;
}

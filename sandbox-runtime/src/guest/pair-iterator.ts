import { codedError } from './node/errors.ts';

type Pair<Value> = readonly [string, Value];

type PairKind = 'entries' | 'keys' | 'values';

const iteratorPrototype = Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]())) as object;

/**
 * Iterators over pairs that may change while they are read: each step looks at the list as it is
 * then, at the index it has reached. One prototype for each class, as WebIDL has it.
 */
export function pairIterators<Value>(
  name: string,
): (list: () => readonly Pair<Value>[], kind: PairKind) => IterableIterator<never> {
  const states = new WeakMap<object, { list: () => readonly Pair<Value>[]; kind: PairKind; at: number }>();
  const prototype = Object.create(iteratorPrototype, {
    next: {
      value: function next(this: object): IteratorResult<unknown, undefined> {
        const state = states.get(this);
        if (state === undefined)
          throw codedError('ERR_INVALID_THIS', `Value of "this" must be of type ${name}Iterator`, TypeError);
        const pair = state.list()[state.at];
        if (pair === undefined) return { value: undefined, done: true };
        state.at += 1;
        const [key, value] = pair;
        return { value: state.kind === 'keys' ? key : state.kind === 'values' ? value : [key, value], done: false };
      },
      writable: true,
      enumerable: true,
      configurable: true,
    },
    [Symbol.toStringTag]: { value: `${name} Iterator`, configurable: true },
  }) as object;
  return (list, kind) => {
    const iterator = Object.create(prototype) as IterableIterator<never>;
    states.set(iterator, { list, kind, at: 0 });
    return iterator;
  };
}

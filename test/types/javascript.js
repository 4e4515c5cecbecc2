import { defineSource } from '@headwater/types';
import { same } from './same.ts';

defineSource({
  name: 'JavaScript',
  version: '1',
  dedupe: 'unique',
  props: {
    db: '$.service.db',
    kind: { type: 'string', options: ['a', 'b'] },
    other: {
      type: 'string',
      /** @param {import('@headwater/types').OptionsInput} input */
      async options({ page }) {
        return [`${this.kind} ${page}`];
      },
    },
  },
  async run() {
    /** @type {'a' | 'b'} */
    const kind = this.kind;
    this.$emit(kind, { id: kind });
    // @ts-expect-error -- a strategy needs an id
    this.$emit(kind);
    // @ts-expect-error -- misspelt
    void this.knd;
  },
});

/** @satisfies {import('@headwater/types').Source} */
export const plain = {
  name: 'Plain',
  version: '1',
  props: { db: '$.service.db' },
  run() {
    this.db.set('a', 1);
  },
};

/** @satisfies {import('@headwater/types').Source} */
export const wrong = {
  name: 'Plain',
  version: '1',
  // @ts-expect-error -- there is no such type
  props: { a: { type: 'strin' } },
  run() {},
};

same();

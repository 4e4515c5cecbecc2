import type { Action, Source } from '@headwater/types';

export const source = {
  name: 'Plain',
  version: '1',
  type: 'source',
  dedupe: 'unique',
  props: { http: '$.interface.http', count: { type: 'integer', min: 1 } },
  methods: {
    twice(n: number) {
      return n * this.count;
    },
  },
  hooks: {
    deploy() {
      this.$emit(this.twice(2), { id: 1 });
    },
  },
  run(event) {
    this.$emit(event.body, { id: this.twice(1) });
  },
} satisfies Source;

export const action = {
  name: 'Plain',
  version: '1',
  type: 'action',
  props: { to: { type: 'string', options: () => ['a'] } },
  run({ $ }) {
    $.export('to', this.to);
  },
} satisfies Action;

export const wrong = {
  name: 'Plain',
  version: '1',
  // @ts-expect-error -- there is no such strategy
  dedupe: 'newest',
  // @ts-expect-error -- there is no such type
  props: { a: { type: 'strin' } },
  run() {},
} satisfies Source;

// @ts-expect-error -- a run is missing
export const empty = { name: 'Plain', version: '1' } satisfies Source;

import { ConfigurationError, defineSource, type HttpEvent, type TimerEvent } from '@headwater/types';
import { same } from './same.ts';

const common = defineSource({
  name: 'Common',
  key: 'acme-common',
  version: '1.2.3',
  dedupe: 'greatest',
  props: { http: '$.interface.http', db: '$.service.db', limit: { type: 'integer', optional: true, default: 10 } },
  methods: {
    lastId(): number {
      return this.db.get('last') ?? 0;
    },
    keep(id: number) {
      this.db.set('last', Math.max(id, this.lastId()));
    },
    metaOf(item: { id: number; title: string }) {
      return { id: item.id, summary: item.title, ts: Date.now() };
    },
  },
  hooks: {
    async deploy() {
      this.$emit({ first: this.lastId() }, { id: 1 });
      this.keep(this.limit);
    },
    async activate() {
      this.db.set('hook', this.http.endpoint);
    },
    async deactivate() {
      this.keep(0);
    },
  },
  async run(event) {
    same<HttpEvent>()(event);
    same<string>()(event.bodyRaw);
    await this.http.respond({ status: 200, headers: { 'content-type': 'text/plain' }, body: 'thanks' });
    this.$emit(event.body, this.metaOf(event.body));
  },
});

same<'acme-common' | undefined>()(common.key);
same<'1.2.3'>()(common.version);
same<'greatest'>()(common.dedupe);

defineSource({
  ...common,
  name: 'Extends another',
  version: '0.0.1',
  props: { ...common.props, topic: { type: 'string' } },
  methods: {
    ...common.methods,
    label() {
      same<string>()(this.topic);
      return `${this.topic} ${this.lastId()}`;
    },
  },
  run(event) {
    same<HttpEvent>()(event);
    same<string>()(this.label());
    same<number>()(this.limit);
    this.$emit({}, { id: 1, name: 'named', summary: 's', ts: new Date() });
    // @ts-expect-error -- the dedupe of the common part wants an id
    this.$emit({});
  },
});

defineSource({
  name: 'Timer',
  version: '1',
  props: { timer: { type: '$.interface.timer', default: { intervalSeconds: 900 } } },
  run(event) {
    same<TimerEvent>()(event);
    same<number>()(event.timestamp);
    same<number | undefined>()(this.timer.intervalSeconds);
    this.$emit({ at: event.timestamp }, { name: 'ticks' });
  },
});

defineSource({
  name: 'Both interfaces',
  version: '1',
  props: { timer: { type: '$.interface.timer' }, http: { type: '$.interface.http' } },
  run(event) {
    same<HttpEvent | TimerEvent>()(event);
    if ('method' in event) same<HttpEvent>()(event);
    else same<TimerEvent>()(event);
  },
});

defineSource({
  name: 'Declares what it is sent',
  version: '1',
  props: { http: '$.interface.http', apiKey: { type: 'string', secret: true } },
  dedupe: 'last',
  async run(event: HttpEvent & { body: { id: string } }) {
    if (this.apiKey.length < 10) throw new ConfigurationError('The API key is too short');
    this.$emit(event.body, { id: event.body.id });
    // @ts-expect-error -- a strategy needs an id
    this.$emit(event.body, { summary: 'no id' });
    // @ts-expect-error -- an id is text or a number
    this.$emit(event.body, { id: { a: 1 } });
    // @ts-expect-error -- channels have names
    this.$emit(event.body, { id: 1, name: 5 });
    // @ts-expect-error -- there is no such metadata
    this.$emit(event.body, { id: 1, channel: 'x' });
  },
});

defineSource({
  run(event) {
    same<HttpEvent>()(event);
    same<string>()(this.joined());
  },
  hooks: {
    deploy() {
      same<string>()(this.joined());
    },
  },
  methods: {
    joined() {
      return this.parts.join(this.comma);
    },
  },
  props: { parts: { type: 'string[]' }, comma: { type: 'string' }, http: '$.interface.http' },
  name: 'In another order',
  version: '1',
});

defineSource({
  name: 'Wrong use of this',
  version: '1',
  props: { http: '$.interface.http', timer: { type: '$.interface.timer' }, db: '$.service.db', name: 'string' },
  methods: {
    half(n: number) {
      return n / 2;
    },
  },
  async run() {
    // @ts-expect-error -- a number is taken
    this.half('2');
    // @ts-expect-error -- a status is missing
    await this.http.respond({ body: 'x' });
    // @ts-expect-error -- a status is a number
    await this.http.respond({ status: '200' });
    // @ts-expect-error -- a timer has no endpoint
    void this.timer.endpoint;
    // @ts-expect-error -- an HTTP interface has no interval
    void this.http.intervalSeconds;
    // @ts-expect-error -- it is text
    this.name.toFixed();
    // @ts-expect-error -- misspelt
    this.halve(2);
    // @ts-expect-error -- there are two calls only
    this.db.delete('a');
  },
});

// @ts-expect-error -- a name is missing
defineSource({ version: '1', run() {} });
// @ts-expect-error -- a version is missing
defineSource({ name: 'A', run() {} });
// @ts-expect-error -- a run is missing
defineSource({ name: 'A', version: '1' });
// @ts-expect-error -- a run is a method
defineSource({ name: 'A', version: '1', run: 5 });
// @ts-expect-error -- versions are text
defineSource({ name: 'A', version: 1, run() {} });
// @ts-expect-error -- a source is no action
defineSource({ name: 'A', version: '1', type: 'action', run() {} });
// @ts-expect-error -- there is no such strategy
defineSource({ name: 'A', version: '1', dedupe: 'uniq', run() {} });
// @ts-expect-error -- there is no such hook
defineSource({ name: 'A', version: '1', hooks: { deplyo() {} }, run() {} });
// @ts-expect-error -- hooks are methods
defineSource({ name: 'A', version: '1', hooks: { deploy: true }, run() {} });
// @ts-expect-error -- methods are methods
defineSource({ name: 'A', version: '1', methods: { a: 1 }, run() {} });
// @ts-expect-error -- there is no such property
defineSource({ name: 'A', version: '1', prop: {}, run() {} });
// @ts-expect-error -- there is no such type
defineSource({ name: 'A', version: '1', props: { a: { type: 'text' } }, run() {} });
// @ts-expect-error -- there is no such short form
defineSource({ name: 'A', version: '1', props: { a: '$.service.database' }, run() {} });
// @ts-expect-error -- min is for numbers
defineSource({ name: 'A', version: '1', props: { a: { type: 'string', min: 1 } }, run() {} });
// @ts-expect-error -- max is a number
defineSource({ name: 'A', version: '1', props: { a: { type: 'integer', max: '9' } }, run() {} });
// @ts-expect-error -- only text can be secret
defineSource({ name: 'A', version: '1', props: { a: { type: 'integer', secret: true } }, run() {} });
// @ts-expect-error -- the default is of another type
defineSource({ name: 'A', version: '1', props: { a: { type: 'integer', optional: true, default: '1' } }, run() {} });
// @ts-expect-error -- the choices are of another type
defineSource({ name: 'A', version: '1', props: { a: { type: 'string', options: [1] } }, run() {} });
// @ts-expect-error -- a choice is { label, value }
defineSource({ name: 'A', version: '1', props: { a: { type: 'string', options: [{ name: 'x' }] } }, run() {} });
// @ts-expect-error -- a list has a list as its default
defineSource({ name: 'A', version: '1', props: { a: { type: 'string[]', default: 'x' } }, run() {} });
// @ts-expect-error -- an interval or a cron expression
defineSource({ name: 'A', version: '1', props: { t: { type: '$.interface.timer', default: {} } }, run() {} });
// @ts-expect-error -- customResponse is a boolean
defineSource({ name: 'A', version: '1', props: { h: { type: '$.interface.http', customResponse: 1 } }, run() {} });
// @ts-expect-error -- a field is misspelt
defineSource({ name: 'A', version: '1', props: { a: { type: 'string', lable: 'A' } }, run() {} });
// @ts-expect-error -- an alert says something
defineSource({ name: 'A', version: '1', props: { a: { type: 'alert' } }, run() {} });
// @ts-expect-error -- there are no lists of objects
defineSource({ name: 'A', version: '1', props: { a: { type: 'object[]' } }, run() {} });
// @ts-expect-error -- there are no lists of stores
defineSource({ name: 'A', version: '1', props: { a: { type: '$.service.db[]' } }, run() {} });

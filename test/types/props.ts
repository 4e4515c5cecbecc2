import {
  type DataStore,
  type Db,
  defineSource,
  type HttpInterface,
  type HttpRequest,
  type SqlQuery,
  type TimerInterface,
} from '@headwater/types';
import { same } from './same.ts';

const channels: string[] = [];

defineSource({
  name: 'Every type',
  version: '0.0.1',
  props: {
    text: { type: 'string' },
    texts: { type: 'string[]' },
    whole: { type: 'integer', min: 1, max: 10 },
    wholes: { type: 'integer[]' },
    real: { type: 'number' },
    flag: { type: 'boolean' },
    flags: { type: 'boolean[]' },
    thing: { type: 'object' },
    whatever: { type: 'any' },
    short: 'integer[]',
    note: { type: 'alert', alertType: 'info', content: 'Read **this**' },
    secret: { type: 'string', secret: true },
    chosen: { type: 'string', options: ['a', 'b'] },
    chosenMany: { type: 'string[]', options: ['a', 'b'] },
    labelled: {
      type: 'integer',
      options: [
        { label: 'One', value: 1 },
        { label: 'Two', value: 2 },
      ],
    },
    fromList: { type: 'string', options: channels },
    withLabel: { type: 'string', withLabel: true },
    withLabels: { type: 'integer[]', withLabel: true, optional: true },
    maybe: { type: 'string', optional: true },
    maybeChosen: { type: 'string', options: ['a', 'b'], optional: true },
    required: { type: 'string', optional: false },
    defaulted: { type: 'integer', optional: true, default: 5 },
    off: { type: 'boolean', optional: true, default: false },
    list: { type: 'string[]', optional: true, default: ['x'] },
    hidden: { type: 'string', hidden: true, disabled: true },
    db: '$.service.db',
    longDb: { type: '$.service.db' },
    http: { type: '$.interface.http', customResponse: true },
    interval: { type: '$.interface.timer', default: { intervalSeconds: 60 } },
    cron: { type: '$.interface.timer', default: { cron: '0 9 * * 1-5', timezone: 'Europe/Paris' } },
    store: { type: 'data_store' },
    request: { type: 'http_request' },
    sql: { type: 'sql', auth: { app: 'postgresql' } },
  },
  run() {
    same<string>()(this.text);
    same<string[]>()(this.texts);
    same<number>()(this.whole);
    same<number[]>()(this.wholes);
    same<number>()(this.real);
    same<boolean>()(this.flag);
    same<boolean[]>()(this.flags);
    same<Record<string, unknown>>()(this.thing);
    same<any>()(this.whatever); // oxlint-disable-line typescript/no-explicit-any -- it is what the prop is
    same<number[]>()(this.short);
    same<undefined>()(this.note);
    same<string>()(this.secret);
    same<'a' | 'b'>()(this.chosen);
    same<('a' | 'b')[]>()(this.chosenMany);
    same<1 | 2>()(this.labelled);
    same<string>()(this.fromList);
    same<{ label: string; value: string }>()(this.withLabel);
    same<{ label: string; value: number }[] | undefined>()(this.withLabels);
    same<string | undefined>()(this.maybe);
    same<'a' | 'b' | undefined>()(this.maybeChosen);
    same<string>()(this.required);
    same<number>()(this.defaulted);
    same<boolean>()(this.off);
    same<string[]>()(this.list);
    same<string>()(this.hidden);
    same<Db>()(this.db);
    same<Db>()(this.longDb);
    same<HttpInterface>()(this.http);
    same<TimerInterface>()(this.interval);
    same<string | undefined>()(this.cron.timezone);
    same<DataStore>()(this.store);
    same<HttpRequest>()(this.request);
    same<SqlQuery>()(this.sql);
  },
});

defineSource({
  name: 'No props',
  version: '1',
  run() {
    this.$emit();
    // @ts-expect-error -- there is no such prop, and no other either
    void this.anything;
  },
});

defineSource({
  name: 'Props that depend on others',
  version: '1',
  props: { kind: { type: 'string', reloadProps: true }, count: { type: 'integer' } },
  additionalProps(previous: Record<string, unknown>) {
    same<string>()(this.kind);
    return this.kind === 'table' ? { ...previous, table: { type: 'string' } } : {};
  },
  run() {
    same<number>()(this.count);
    this.$emit(this['table']);
  },
});

defineSource({
  name: 'Stores',
  version: '1',
  props: { store: { type: 'data_store' }, db: '$.service.db' },
  async run() {
    await this.store.set('a', { any: 'json' }, { ttl: 60 });
    same<boolean>()(await this.store.delete('a'));
    same<boolean>()(await this.store.has('a'));
    same<string[]>()(await this.store.keys());
    for await (const [key] of this.store) same<string>()(key);
    this.db.set('seen', { n: 1 });
    this.$emit(this.db.get('seen').n);
    // @ts-expect-error -- keys are text
    this.db.get(1);
  },
});

import { type ActionContext, defineAction } from '@headwater/types';
import { same } from './same.ts';

const action = defineAction({
  name: 'Send',
  key: 'acme-send',
  version: '0.2.0',
  type: 'action',
  description: 'Sends **something**',
  annotations: { destructiveHint: false, openWorldHint: true, readOnlyHint: false },
  props: { to: { type: 'string' }, times: { type: 'integer', optional: true } },
  methods: {
    greeting() {
      return `Hello ${this.to}`;
    },
  },
  async run({ $, steps }) {
    same<ActionContext>()($);
    same<string>()(this.to);
    same<number | undefined>()(this.times);
    $.export('$summary', this.greeting());
    $.export('count', 1);
    await $.respond({ status: 200, body: { ok: true }, immediate: true });
    await $.send.http({ method: 'POST', url: 'https://example.com', data: { a: 1 } });
    $.send.email({ subject: 's', text: 't' });
    $.send.s3({ bucket: 'b', prefix: 'p', payload: {} });
    $.send.emit({ any: 'event' });
    $.send.sse({ channel: 'c', payload: 1 });
    same<number>()($.context.deadline);
    same<boolean>()($.context.JIT);
    same<number>()($.context.run.runs);
    same<string>()($.context.trace_id);
    same<string>()($.flow.suspend(1_000).resume_url);
    same<string>()($.flow.delay(1_000).cancel_url);
    $.flow.rerun(1_000, { page: 2 }, 3);
    return { sent: steps?.['trigger'].event.id as string, text: this.greeting() };
  },
});

same<'acme-send' | undefined>()(action.key);
same<'0.2.0'>()(action.version);
same<Promise<{ sent: string; text: string }>>()(action.run({ $: {} as ActionContext }));

defineAction({
  name: 'Stops',
  version: '1',
  type: 'action',
  run({ $ }) {
    return $.flow.exit('nothing to do');
  },
});

defineAction({
  name: 'Wrong use of this',
  version: '1',
  type: 'action',
  props: { to: 'string' },
  run({ $ }) {
    // @ts-expect-error -- actions emit nothing
    this.$emit({});
    // @ts-expect-error -- a name is text
    $.export(1, 2);
    // @ts-expect-error -- a delay has a length
    $.flow.delay();
    // @ts-expect-error -- a request has an address
    void $.send.http({ method: 'POST' });
    // @ts-expect-error -- there is no such destination
    $.send.fax({});
    // @ts-expect-error -- misspelt
    return this.too;
  },
});

// @ts-expect-error -- the type is missing
defineAction({ name: 'A', version: '1', run() {} });
// @ts-expect-error -- an action has no hooks
defineAction({ name: 'A', version: '1', type: 'action', hooks: { deploy() {} }, run() {} });
// @ts-expect-error -- an action deduplicates nothing
defineAction({ name: 'A', version: '1', type: 'action', dedupe: 'unique', run() {} });
// @ts-expect-error -- an action has no interfaces
defineAction({ name: 'A', version: '1', type: 'action', props: { http: '$.interface.http' }, run() {} });
// @ts-expect-error -- an action has no store of its own
defineAction({ name: 'A', version: '1', type: 'action', props: { db: { type: '$.service.db' } }, run() {} });

import { eventually } from './eventually.ts';
import type { Headwater } from './headwater.ts';
import type { Receiver } from './receiver.ts';

const SLOW = { timeoutMs: 180_000 };

const ORDERS = `export default {
  name: 'Shop orders', version: '1.2.0',
  props: { http: '$.interface.http' },
  async run({ body }) {
    console.log('order', body.order, 'of', body.customer.name);
    this.$emit(body, { id: body.order, summary: 'Order ' + body.order + ' · ' + body.customer.name });
  },
};`;
const RATES = `export default { name: 'Currency rates', version: '0.3.1', async run() { this.$emit({ EUR: 1 }); } };`;
const TOTAL = `export default { run({ steps, $ }) {
  const { items } = steps.trigger.event;
  console.log('pricing', items.length, 'items');
  $.export('cents', items.reduce((sum, { count, cents }) => sum + count * cents, 0));
  return items.map(({ sku }) => sku);
} };`;
const CHECK = `export default { run({ steps }) {
  if (steps.total.cents > 200000) throw new Error('The order is over the credit limit of 2000.00');
  return 'within the limit';
} };`;
const CUSTOMERS = ['Ada Lovelace', 'Grace Hopper', 'Mary Jackson', 'Hedy Lamarr', 'Radia Perlman'];

/** Ids of the resources in a filled instance. */
export interface Filled {
  orders: string;
  rates: string;
  /** The newest event of the orders. */
  event: string;
  workflow: string;
  /** Its last step failed. */
  execution: string;
  warehouse: string;
  /** A webhook with a receiver that answers 503. */
  accounting: string;
  /** Its newest delivery, attempted at least once. */
  delivery: string;
}

/**
 * A shop: orders come in, a workflow prices them, one webhook takes them and another one fails. The
 * last order of `orderCount` makes its execution fail.
 */
export async function fillInstance(headwater: Headwater, receiver: Receiver, orderCount: number): Promise<Filled> {
  const ask = async (...request: Parameters<Headwater['api']>) => {
    const { status, data, text } = await headwater.api(...request);
    if (status >= 300) throw new Error(text);
    return data;
  };
  receiver.answer = ({ url }) =>
    url === '/accounting'
      ? { status: 503, headers: { 'retry-after': '30' }, body: 'Down for maintenance until noon' }
      : { status: 200, body: '{"number":"W-1017"}', headers: { 'content-type': 'application/json' } };
  const orders = await headwater.deploy(ORDERS);
  const rates = await headwater.deploy(RATES);
  const warehouse = await ask('POST', '/webhooks', { url: `${receiver.url}/warehouse`, name: 'Warehouse' });
  const accounting = await ask('POST', '/webhooks', { url: `${receiver.url}/accounting`, name: 'Accounting' });
  for (const { id } of [warehouse, accounting]) {
    await ask('POST', '/subscriptions', { emitter_id: orders.id, listener_id: id });
  }
  await ask('PUT', '/environment_variables/WAREHOUSE_URL', { value: receiver.url });
  const workflow = await ask('POST', '/workflows', {
    name: 'Order intake',
    triggers: [{ source_id: orders.id }],
    steps: [
      { namespace: 'total', component_code: TOTAL },
      {
        namespace: 'reserve',
        component_key: 'http-send-request',
        props: {
          method: 'POST',
          url: '{{env.WAREHOUSE_URL}}/reservations',
          body: { lines: '{{steps.total.$return_value}}', order: '{{steps.trigger.event.order}}' },
        },
      },
      { namespace: 'check', component_code: CHECK },
    ],
    settings: { timeout_seconds: 30 },
  });
  for (let at = 0; at < orderCount; at++) {
    await fetch(orders.endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(orderOf(at, at === orderCount - 1)),
    });
    await headwater.untilEvents(orders.id, at + 1);
  }
  const execution = await eventually(async () => {
    const data = await ask('GET', `/workflows/${workflow.id}/executions`, { limit: 100 });
    return data.length === orderCount && data.find(({ status }: { status: string }) => status === 'failed');
  }, SLOW);
  const [delivery] = await ask('GET', `/webhooks/${accounting.id}/deliveries`, { limit: 1 });
  await eventually(async () => (await ask('GET', `/deliveries/${delivery.id}`)).attempts.length >= 1, SLOW);
  const [event] = await ask('GET', `/sources/${orders.id}/event_summaries`, { limit: 3 });
  return {
    orders: orders.id,
    rates: rates.id,
    event: event.id,
    workflow: workflow.id,
    execution: execution.id,
    warehouse: warehouse.id,
    accounting: accounting.id,
    delivery: delivery.id,
  };
}

function orderOf(at: number, isLarge: boolean) {
  const items = [
    { sku: 'weir', count: isLarge ? 2 : 1, cents: 125_000 },
    { sku: 'sluice', count: 1, cents: 48_000 },
  ];
  return { order: 1000 + at, customer: { name: CUSTOMERS[at % CUSTOMERS.length], vat: 'DE 811 907 980' }, items };
}

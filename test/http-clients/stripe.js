import Stripe from 'stripe';

function clientOf(base, options) {
  const { hostname, port } = new URL(base);
  return new Stripe('sk_test_1', {
    host: hostname,
    port: Number(port),
    protocol: 'http',
    maxNetworkRetries: 0,
    ...options,
  });
}

export const checks = {
  async form(base) {
    const customer = await clientOf(base).customers.create({ name: 'Ada & co', metadata: { plan: 'a' } });
    equal(customer.id, 'cus_1');
    equal(customer.received, { name: 'Ada & co', 'metadata[plan]': 'a' });
  },
  async paging(base) {
    const ids = [];
    for await (const charge of clientOf(base).charges.list({ limit: 2 })) ids.push(charge.id);
    equal(ids, ['ch_1', 'ch_2', 'ch_3']);
  },
  async error(base) {
    const error = await failureOf(clientOf(base).customers.retrieve('missing'));
    equal([error.type, error.statusCode, error.code], ['StripeInvalidRequestError', 404, 'resource_missing']);
  },
  async timeout(base) {
    const error = await failureOf(clientOf(base, { timeout: TIMEOUT_MS }).customers.retrieve('never'));
    equal(error.type, 'StripeConnectionError');
  },
  async webhook() {
    const stripe = clientOf('http://127.0.0.1:1');
    const payload = JSON.stringify({ id: 'evt_1', object: 'event' });
    const header = stripe.webhooks.generateTestHeaderString({ payload, secret: 'whsec_1' });
    equal(stripe.webhooks.constructEvent(payload, header, 'whsec_1').id, 'evt_1');
  },
};

// secrets: A secret sent with `$.send.http` to a server that repeats it in its answer: shown with the send, or left in a table.
import { expect, it } from 'vitest';
import { sendEach } from '../../support/hostile-sends.ts';
import { hostile } from '../../support/hostile.ts';
import { startReceiver } from '../../support/receiver.ts';
import { secretsIn } from '../../support/whole-output.ts';

const world = hostile();

const token = 'sk_"quo\'ted"_0123456789';

it('arrives as it is, and is readable nowhere else', async () => {
  const receiver = await startReceiver();
  receiver.answer = ({ headers, body }) => ({ status: 400, body: `${String(headers['x-token'])} ${body}` });
  try {
    const call: ['http', object] = [
      'http',
      { url: receiver.url, headers: { 'x-token': 'TOKEN' }, data: { list: ['TOKEN'] } },
    ];
    const sends = await world.unharmed(() => sendEach(world, [call], { token }));
    expect(receiver.requests[0]).toMatchObject({
      headers: { 'x-token': token },
      body: JSON.stringify({ list: [token] }),
    });
    expect(sends).toMatchObject([{ status: 'failed', attempts: [{ status_code: 400, response: null }] }]);
    const rows = await world.sql`select to_json(s)::text as text from sends s where account_id = ${world.attacker.id}`;
    const steps = await world.sql`
      select to_json(s)::text as text from execution_steps s where account_id = ${world.attacker.id}`;
    const texts = [
      JSON.stringify(sends),
      ...rows.map(({ text }) => String(text)),
      ...steps.map(({ text }) => String(text)),
    ];
    for (const text of texts) expect([text, secretsIn(text, { token })]).toEqual([text, []]);
  } finally {
    await receiver.stop();
  }
});

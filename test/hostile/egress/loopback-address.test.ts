// egress: Loopback as literal addresses, where the operator has allowed nothing.
import { expect, it } from 'vitest';
import { guarded, NOT_PUBLIC } from '../../support/hostile-egress.ts';

const guard = guarded({ closed: true });

it.each(['127.0.0.1', '127.0.0.1:5432', '127.0.0.53', '127.255.255.254', '[::1]', '[::ffff:127.0.0.1]'])(
  '%s is refused before anything is connected',
  async (host) => {
    const outcome = await guard.unharmed(() => guard.fetch(`http://${host}/`));
    expect(outcome).toMatchObject({ ok: false, message: expect.stringMatching(NOT_PUBLIC) });
    expect(guard.connected()).toEqual([]);
    expect(guard.lookups).toEqual([]);
  },
);

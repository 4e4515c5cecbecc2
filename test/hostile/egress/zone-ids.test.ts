// egress: Addresses with a zone, plain and encoded, which name an interface of the machine.
import { expect, it } from 'vitest';
import { guarded } from '../../support/hostile-egress.ts';

const guard = guarded({ closed: true, resolve: () => ['fe80::1%lo', 'fe80::1%25eth0'] });

it.each(['[fe80::1%25lo]', '[fe80::1%lo]', '[::1%25lo]', '[2606:4700::1111%25lo]', 'name.test'])(
  '%s is refused before anything is connected',
  async (host) => {
    const outcome = await guard.unharmed(() => guard.fetch(`http://${host}/`));
    expect(outcome).toMatchObject({ ok: false });
    expect(guard.connected()).toEqual([]);
  },
);

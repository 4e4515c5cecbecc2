import { expect, test } from 'vitest';
import { accountLimits } from '@headwater/shared';
import { createComponent, type NewComponent } from '../../../engine/src/components/components.sql.ts';

import { insertAccount } from '../../support/source-rows.ts';
import { databaseOfTests } from '../../support/database-of-tests.ts';

const database = databaseOfTests();

test('a component that is deleted as it is saved is a conflict that says so', async () => {
  const { db } = database;
  const accountId = await insertAccount(db.sql);
  // The same as a deletion between the insert and the read after it.
  await db.sql.unsafe(`
    create function gone() returns trigger as 'begin new.deleted_at = now(); return new; end' language plpgsql;
    create trigger gone before insert on components for each row execute function gone();`);
  const component: NewComponent = {
    id: 'sc_gone',
    accountId,
    name: 'Gone',
    version: '1',
    type: 'source',
    code: '',
    codeHash: '',
    bundle: { code: '', sourceMap: '', hash: '' },
    dependencies: {},
    builtAt: new Date(),
    ofStep: false,
    bundleFormat: 1,
    hooks: [],
    props: [],
    hasAdditionalProps: false,
  };
  await expect(createComponent(db, component, accountLimits())).rejects.toMatchObject({
    code: 'CONFLICT',
    message: 'The component sc_gone was deleted meanwhile',
  });
});

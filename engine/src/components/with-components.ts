import type { Components, Log, Principal } from '../contract/index.ts';
import type { Sql } from '../db/index.ts';
import { deleteStepComponents } from './components.sql.ts';

interface ComponentContext {
  db: { sql: Sql };
  components: Pick<Components, 'save' | 'obtain'>;
  log: Log;
}

/**
 * Runs `work`, which saves components from the code of steps or of a source. If it fails, deletes
 * the saved components that nothing refers to.
 */
export async function withComponents<C extends ComponentContext, T>(
  context: C,
  who: Principal,
  work: (context: C) => Promise<T>,
): Promise<T> {
  const { db, components, log } = context;
  const saved: string[] = [];
  const save: Components['save'] = async (...input) => {
    const component = await components.save(...input);
    saved.push(component.id);
    return component;
  };
  try {
    return await work({ ...context, components: { obtain: components.obtain, save } });
  } catch (error) {
    await db.sql
      .begin((tx) => deleteStepComponents(tx, who.accountId, saved))
      // The caller is told why it failed, which is the reason for this.
      .catch((err: unknown) => log.warn({ err, components: saved }, 'components of a refused resource are left'));
    throw error;
  }
}

import type { AppDefinition, AppField } from '@headwater/shared/contract';

export type { AppDefinition, AppField, AppOAuth, AppTest } from '@headwater/shared/contract';

/** An app with its row. */
export interface StoredApp {
  id: string;
  definition: AppDefinition;
  /**
   * The account that owns the app; no other account sees it. Absent: the app is in the catalogue.
   */
  accountId?: string;
  /** The catalogue has got one of the same slug since, which the account does not see. */
  hidesCatalogue?: boolean;
  createdAt: Date;
  updatedAt: Date;
}

/** Whether the value of a field is a secret. */
export function isSecretField(app: Pick<AppDefinition, 'authType'>, field: AppField): boolean {
  return field.secret ?? app.authType === 'keys';
}

import { autoSubscriptionSchema, subscriptionSchema } from '@headwater/shared/contract';
import { presenter } from './presenter.ts';

export const presentSubscription = presenter(subscriptionSchema);
export const presentAutoSubscription = presenter(autoSubscriptionSchema);
